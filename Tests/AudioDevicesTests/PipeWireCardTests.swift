// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import Testing

@testable import EarshotAudioDevices

/// Tests the reading of a card's routes and profiles from a server's bytes.
@Suite struct PipeWireCardTests {
    private func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    private func pod(_ type: Int, _ body: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
        return bytes(UInt32(body.count)) + bytes(UInt32(type)) + body + padding
    }

    private func text(_ text: String) -> [UInt8] { pod(Int(SPA_TYPE_String), Array(text.utf8) + [0]) }
    private func integer(_ number: UInt32) -> [UInt8] { pod(Int(SPA_TYPE_Int), bytes(number)) }
    private func id(_ number: UInt32) -> [UInt8] { pod(Int(SPA_TYPE_Id), bytes(number)) }

    private func object(_ type: Int, _ properties: [(UInt32, [UInt8])]) -> [UInt8] {
        let body = bytes(UInt32(type)) + bytes(0) + properties.flatMap { bytes($0.0) + bytes(0) + $0.1 }
        return pod(Int(SPA_TYPE_Object), body)
    }

    private func read<Value>(_ pod: [UInt8], as body: (UnsafePointer<spa_pod>) -> Value?) -> Value? {
        pod.withUnsafeBytes { $0.baseAddress.flatMap { body($0.assumingMemoryBound(to: spa_pod.self)) } }
    }

    private func route(_ changes: [UInt32: [UInt8]] = [:]) -> PipeWireGraph.Route? {
        let info = pod(
            Int(SPA_TYPE_Struct),
            integer(2) + text("device.icon_name") + text("port.type") + text("port.type") + text("headphones"))
        let devices = pod(Int(SPA_TYPE_Array), bytes(4) + bytes(UInt32(SPA_TYPE_Int)) + bytes(1) + bytes(8))
        let properties: [(UInt32, [UInt8])] = [
            (SPA_PARAM_ROUTE_name.rawValue, text("analog-output-headphones")),
            (SPA_PARAM_ROUTE_direction.rawValue, id(SPA_DIRECTION_INPUT.rawValue)),
            (SPA_PARAM_ROUTE_device.rawValue, integer(8)),
            (SPA_PARAM_ROUTE_available.rawValue, id(SPA_PARAM_AVAILABILITY_no.rawValue)),
            (SPA_PARAM_ROUTE_info.rawValue, info), (SPA_PARAM_ROUTE_devices.rawValue, devices),
        ]
        let changed = properties.map { ($0.0, changes[$0.0] ?? $0.1) }
        return read(object(Int(SPA_TYPE_OBJECT_ParamRoute), changed)) { PipeWireGraph.Route($0) }
    }

    @Test func `a route has its name, direction, nodes, kind and availability`() {
        let expected = PipeWireGraph.Route(
            name: "analog-output-headphones", isOutput: false, device: 8, devices: [1, 8], portType: "headphones",
            availability: .unavailable)
        #expect(route() == expected)
    }

    @Test func `values of other types count as missing`() {
        let wrong = integer(1)
        let odd = route([
            SPA_PARAM_ROUTE_device.rawValue: text("8"), SPA_PARAM_ROUTE_available.rawValue: wrong,
            SPA_PARAM_ROUTE_info.rawValue: wrong,
            SPA_PARAM_ROUTE_devices.rawValue: pod(
                Int(SPA_TYPE_Array), bytes(2) + bytes(UInt32(SPA_TYPE_Int)) + bytes(1)),
        ])
        #expect(odd?.device == nil && odd?.devices == [] && odd?.portType == nil && odd?.availability == .unknown)
        #expect(route([SPA_PARAM_ROUTE_name.rawValue: wrong]) == nil)
        #expect(route([SPA_PARAM_ROUTE_info.rawValue: pod(Int(SPA_TYPE_Struct), text("port.type"))])?.portType == nil)
        // The value of port.type is a number, so the next text is another entry's name.
        let shifted = integer(2) + text("port.type") + integer(1) + text("device.icon_name") + text("audio")
        #expect(route([SPA_PARAM_ROUTE_info.rawValue: pod(Int(SPA_TYPE_Struct), shifted)])?.portType == nil)
    }

    @Test func `a profile has its number, name, priority and availability`() {
        func profile(_ index: [UInt8]) -> PipeWireGraph.Profile? {
            let properties: [(UInt32, [UInt8])] = [
                (SPA_PARAM_PROFILE_index.rawValue, index), (SPA_PARAM_PROFILE_name.rawValue, text("headset-head-unit")),
                (SPA_PARAM_PROFILE_priority.rawValue, integer(7)),
                (SPA_PARAM_PROFILE_available.rawValue, id(SPA_PARAM_AVAILABILITY_yes.rawValue)),
            ]
            return read(object(Int(SPA_TYPE_OBJECT_ParamProfile), properties)) { PipeWireGraph.Profile($0) }
        }
        let expected = PipeWireGraph.Profile(
            index: 196_866, name: "headset-head-unit", priority: 7, availability: .available)
        #expect(profile(integer(196_866)) == expected)
        #expect(profile(text("no number")) == nil)
    }
}
