// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The metadata objects that are observed; the raw values are their names on the server.
    enum Metadata: String {
        /// The server's own settings.
        case settings
        /// The default devices, set by the session manager, which may end before the server.
        case defaults = "default"
    }

    /// Sets or removes an entry of a metadata object.
    /// - Parameters:
    ///   - key: nil if all entries were removed.
    ///   - value: nil if the entry was removed.
    mutating func set(_ metadata: Metadata, _ key: String?, _ value: String?) {
        switch (metadata, key) {
        case (.settings, let key?): set(key, value)
        case (.settings, nil): clock = Clock()
        case (.defaults, let key?): setDefault(key, value)
        case (.defaults, nil): (defaultSink, defaultSource) = (nil, nil)
        }
    }

    /// Sets an entry of the `settings` metadata.
    private mutating func set(_ key: String, _ value: String?) {
        // Other numbers are ignored. The limit is far above real values, and far below an overflow.
        let number = value.flatMap { Int($0) }.flatMap { (0...1_000_000).contains($0) ? $0 : nil } ?? 0
        switch key {
        case "clock.rate": if number > 0 { clock.sampleRate = number }
        case "clock.force-rate": clock.forcedSampleRate = number
        case "clock.min-quantum" where number > 0: clock.quanta = number...max(number, clock.quanta.upperBound)
        case "clock.max-quantum" where number > 0: clock.quanta = min(number, clock.quanta.lowerBound)...number
        case "clock.allowed-rates":
            let rates = (value ?? "").split { !$0.isNumber }.compactMap { Int($0) }.filter {
                (1_000...1_000_000).contains($0)
            }
            if !rates.isEmpty { clock.sampleRates = rates.sorted() }
        default: break
        }
    }

    /// Sets an entry of the `default` metadata.
    private mutating func setDefault(_ key: String, _ value: String?) {
        switch key {
        case "default.audio.sink": defaultSink = value.flatMap(Self.name)
        case "default.audio.source": defaultSource = value.flatMap(Self.name)
        default: break
        }
    }

    /// Returns the device name in a text like `{ "name": "alsa_output.pci" }`; nil if the text has none.
    static func name(_ text: String) -> String? {
        var outer = spa_json()
        var inner = spa_json()
        return text.withCString { bytes -> String? in
            spa_json_init(&outer, bytes, strlen(bytes))
            guard spa_json_enter_object(&outer, &inner) > 0 else { return nil }
            inner.parent = nil  // the parser would write to it at the object's end
            while let key = nextString(&inner), let value = nextString(&inner) {
                if key == "name" { return value }
            }
            return nil
        }
    }

    private static func nextString(_ object: inout spa_json) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { token in
            guard let bytes = token.baseAddress, spa_json_get_string(&object, bytes, CInt(token.count)) > 0 else {
                return nil
            }
            return String(cString: bytes)
        }
    }
}
