// AudioDSP
