// SPDX-License-Identifier: Apache-2.0

/// The connections of a device at each start.
struct JACKWiring: Sendable {
    /// The client whose output ports the device's inputs listen to; nil for none.
    var input: String?
    /// The client whose input ports the device's outputs play to; nil for none.
    var output: String?
    /// For each input the client's port, from 0; nil is in order.
    var inputMap: [Int]?
    /// For each output the client's port, from 0; nil is in order, a lone one to the first two.
    var outputMap: [Int]?

    /// Pairs the device's ports with a client's; leaves out ports that the client lacks.
    static func pairs(
        count: Int, ports: Int, map: [Int]?, doublesLone: Bool
    ) -> [(own: Int, port: Int)] {
        var pairs = (map ?? Array(0..<count)).enumerated().map { (own: $0.offset, port: $0.element) }
        if map == nil, count == 1, doublesLone { pairs.append((own: 0, port: 1)) }
        return pairs.filter { $0.port < ports }
    }
}
