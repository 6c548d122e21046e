"""The CVAE predictor: samples, network, training and ONNX export."""
