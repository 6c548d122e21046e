"""Write a driving agent for Jaywalk that runs in its own Python."""

from jaywalk_agent.agent import Agent, Answer, Control, Forecast, Plan
from jaywalk_agent.client import RemoteAgent, RemotePeople
from jaywalk_agent.errors import AgentFailure, ConnectionLost, LinkError, NoListener, ProtocolError
from jaywalk_agent.loading import load_agent
from jaywalk_agent.people import PersonAct, PersonPolicy, PersonTraits, PersonView, load_people
from jaywalk_agent.server import AgentServer, PeopleServer, serve, serve_people
from jaywalk_agent.sight import (
    PERSON,
    PROP,
    VEHICLE,
    Actors,
    Briefing,
    EgoState,
    Lights,
    Moment,
    Route,
    StopLines,
    Vehicle,
)
from jaywalk_agent.wire import PROTOCOL

__version__ = "0.3.0"

__all__ = [
    "PERSON",
    "PROP",
    "PROTOCOL",
    "VEHICLE",
    "Actors",
    "Agent",
    "AgentFailure",
    "AgentServer",
    "Answer",
    "Briefing",
    "ConnectionLost",
    "Control",
    "EgoState",
    "Forecast",
    "Lights",
    "LinkError",
    "Moment",
    "NoListener",
    "PeopleServer",
    "PersonAct",
    "PersonPolicy",
    "PersonTraits",
    "PersonView",
    "Plan",
    "ProtocolError",
    "RemoteAgent",
    "RemotePeople",
    "Route",
    "StopLines",
    "Vehicle",
    "load_agent",
    "load_people",
    "serve",
    "serve_people",
]
