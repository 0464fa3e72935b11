// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import TestSupport

extension DeviceBench {
    static func withJACK(_ setup: Setup, _ body: (DeviceBench) throws -> Void) throws {
        try JACKServer.running(blockFrameCount: setup.block, channelCount: setup.channelCount) { server in
            var request = AudioDeviceRequest()
            request.clientName = "probe"
            request.input = .device(id: "system")
            request.output = .device(id: "system")
            request.blockFrameCount = setup.block
            try body(
                DeviceBench(
                    kind: .jack, setup: setup, system: JACKSystem(serverName: server.name, connects: setup.connects),
                    request: request,
                    closeLoop: { device in
                        for i in 1...min(device.inputChannelCount, device.outputChannelCount) {
                            try server.connect("\(device.name):output_\(i)", "\(device.name):input_\(i)")
                        }
                    },
                    changeBlock: server.setBlock, kill: server.kill, revive: { try server.start() }))
        }
    }
}
