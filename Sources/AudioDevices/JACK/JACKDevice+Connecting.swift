// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime

extension JACKDevice {
    /// Makes the connections of the wiring while the device runs; existing connections stay.
    /// - Throws: ``AudioDeviceError/deviceGone(name:)`` if a client of the wiring has no port of the direction any longer,
    ///   ``AudioDeviceError/portFailed(name:)``, ``AudioDeviceError/stalled(device:seconds:)``.
    func connect(_ wiring: JACKWiring) throws(AudioDeviceError) {
        let ports = try client.with { JACKPort.list($0) } ?? []
        if let target = wiring.input, inputChannelCount > 0 {
            let sources = ports.filter { $0.isSource && $0.client == target }
            if sources.isEmpty { throw .deviceGone(name: target) }
            try connect(inputs: sources, map: wiring.inputMap)
        }
        if let target = wiring.output, outputChannelCount > 0 {
            let sinks = ports.filter { !$0.isSource && $0.client == target }
            if sinks.isEmpty { throw .deviceGone(name: target) }
            try connect(outputs: sinks, map: wiring.outputMap)
        }
    }

    private func connect(inputs sources: [JACKPort], map: [Int]?) throws(AudioDeviceError) {
        for (own, port) in JACKWiring.pairs(
            count: inputChannelCount, ports: sources.count, map: map, doublesLone: false)
        { try connect(sources[port].name, "\(name):\(Self.inputPortName(own))") }
    }

    private func connect(outputs sinks: [JACKPort], map: [Int]?) throws(AudioDeviceError) {
        for (own, port) in JACKWiring.pairs(
            count: outputChannelCount, ports: sinks.count, map: map, doublesLone: true)
        { try connect("\(name):\(Self.outputPortName(own))", sinks[port].name) }
    }

    private func connect(_ from: String, _ to: String) throws(AudioDeviceError) {
        let code = try client.with { jack_connect($0, from, to) } ?? -1
        guard code == 0 || code == EEXIST else { throw .portFailed(name: to) }
    }
}
