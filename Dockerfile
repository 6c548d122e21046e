# docker build -t jaywalk . && docker run --rm -p 2000-2002:2000-2002 jaywalk serve --host 0.0.0.0
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY packages packages
RUN pip wheel --no-cache-dir --no-deps -w /dist ./packages/jaywalk_agent .

FROM python:3.11-slim
COPY requirements.lock /tmp/requirements.lock
COPY --from=build /dist /dist
RUN pip install --no-cache-dir -c /tmp/requirements.lock --find-links /dist 'jaywalk[all,gym]' \
    && useradd --create-home jaywalk
USER jaywalk
WORKDIR /home/jaywalk
EXPOSE 2000-2002
ENTRYPOINT ["jaywalk"]
CMD ["--help"]
