// SPDX-License-Identifier: Apache-2.0

/// The connections that a device makes at each start.
struct JACKWiring: Sendable {
    /// The client whose outputs the device captures; nil for none.
    var input: String?
    /// The client whose inputs the device plays to; nil for none.
    var output: String?
    /// The client's port, from 0, for each input; nil for its order.
    var inputMap: [Int]?
    /// The client's port, from 0, for each output; nil for its order, with a single output on the first two.
    var outputMap: [Int]?

    /// Returns the pairs of a device's port and a client's port to connect; leaves out ports that the client lacks.
    /// - Parameter doublesLone: true to connect a single port of the device to the client's first two, without a map.
    static func pairs(
        count: Int, ports: Int, map: [Int]?, doublesLone: Bool
    ) -> [(own: Int, port: Int)] {
        var pairs = (map ?? Array(0..<count)).enumerated().map { (own: $0.offset, port: $0.element) }
        if map == nil, count == 1, doublesLone { pairs.append((own: 0, port: 1)) }
        return pairs.filter { $0.port < ports }
    }
}
