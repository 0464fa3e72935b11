import ArgumentParser
import AudioDevices

extension AudioBackend: ExpressibleByArgument {}
