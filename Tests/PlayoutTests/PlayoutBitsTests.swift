// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestTraits
import Testing

@testable import EarshotPlayout

/// The output and the statistics of seeded runs, which refactoring must not change. After an intended change of behaviour,
/// `EARSHOT_FIGURES=1` prints the new ones.
@Suite(.optimized) struct PlayoutBitsTests {
    @Test(arguments: RecordedRun.all) func `a seeded run reproduces the recorded bits`(run: RecordedRun) throws {
        let (statistics, output, result) = try run.run()
        if printsFigures {
            print("bits: \(run.name): 0x\(String(statistics, radix: 16)) 0x\(String(output, radix: 16))")
            print("      \(result.statistics)")
        }
        #expect(statistics == run.statistics)
        if let expected = run.output { #expect(output == expected) }
    }
}

extension RecordedRun {
    static func rig(
        _ configuration: PlayoutConfiguration, block: Int, seconds: Double, _ change: (inout PlayoutRig) -> Void
    ) -> PlayoutRig {
        var rig = PlayoutRig(configuration: configuration, block: block, seconds: seconds)
        rig.says = voice
        change(&rig)
        return rig
    }

    static func opus(
        _ coding: RenderCodec, frames: Int, latencyProfile: LatencyProfile = .talk, channels: Int = 1
    ) -> PlayoutConfiguration {
        PlayoutConfiguration(
            coding: coding, streamRate: 48_000, deviceRate: 48_000, channelCount: channels, framesPerPacket: frames,
            latencyProfile: latencyProfile)
    }

    static let all = [
        RecordedRun(
            name: "PCM, jitter, losses and drift", statistics: 0x1e22_8717_5d2c_3e18, output: 0x32bc_f2d2_83a5_fcc7
        ) {
            rig(.pcm(), block: 128, seconds: 30) {
                $0.senderPPM = 80
                $0.receiverPPM = -40
                $0.delay = network(1, jitter: 0.012, loss: 0.03)
            }
        },
        RecordedRun(
            name: "PCM, the quick profile follows blocks", statistics: 0x4cf6_582b_c1f6_1618,
            output: 0x4d5a_9552_689e_b619
        ) {
            rig(.pcm(frames: 64, latencyProfile: .sing), block: 64, seconds: 40) {
                $0.senderPPM = -30
                $0.delay = network(2, jitter: 0.002, loss: 0.001)
            }
        },
        RecordedRun(
            name: "PCM in stereo, between rates, the safe profile", statistics: 0xe2f5_fd40_afe1_90ac,
            output: 0xd996_6462_c4f1_6b21
        ) {
            rig(
                .pcm(rate: 44_100, device: 48_000, frames: 220, channels: 2, latencyProfile: .listen), block: 470,
                seconds: 20
            ) {
                $0.delay = network(3, jitter: 0.060, loss: 0.01)
            }
        },
        RecordedRun(
            name: "PCM, a sender that starts anew twice, a device that skips", statistics: 0xcb82_2502_1ab7_6b80,
            output: 0x0f7f_d46a_d4df_4db6
        ) {
            rig(.pcm(), block: 100, seconds: 20) {
                $0.delay = network(4, jitter: 0.004)
                $0.skip = (at: 5, frames: 1_280)
                $0.senderGap = (at: 7, frames: 110_000)
                $0.restart = 12
                $0.restartShift = (-1_000, 0)
                $0.frameChange = (at: 16, frames: 320)
            }
        },
        RecordedRun(
            name: "PCM, a stall, an outage, a silence", statistics: 0x16ad_e7f9_57f0_d7c8, output: 0x3a7a_2794_4250_7601
        ) {
            rig(.pcm(), block: 256, seconds: 25) {
                let network = network(5, jitter: 0.003)
                $0.delay = { sequence, sent in
                    (10..<10.4).contains(sent)
                        ? 10.4 - sent : (12..<13.5).contains(sent) ? nil : network(sequence, sent)
                }
                $0.silence = 18..<18.6
            }
        },
        RecordedRun(
            name: "PCM, delays that grow and fall", statistics: 0xd269_b82b_947a_5bfa, output: 0x327c_a01c_861e_d8b0
        ) {
            rig(.pcm(latencyProfile: .listen), block: 64, seconds: 90) {
                let calm = network(17, jitter: 0.002)
                let rough = network(18, jitter: 0.070)
                $0.delay = { sequence, sent in (10..<20).contains(sent) ? rough(sequence, sent) : calm(sequence, sent) }
                $0.before = { playout, now in
                    let wanted: LatencyProfile = now < 16 ? .sing : now < 24 ? .listen : .talk
                    if playout.latencyProfile != wanted { playout.latencyProfile = wanted }
                }
            }
        },
        RecordedRun(
            name: "PCM, the latency profile changes, copies and requested packets arrive",
            statistics: 0x9cc9_3877_f0f2_2cd6,
            output: 0x4592_6344_bdb4_a2e0
        ) {
            rig(.pcm(), block: 128, seconds: 40) {
                let network = network(6, jitter: 0.020, loss: 0.02)
                $0.delay = network
                $0.extra = { sequence, sent in
                    guard sequence > 4, network(sequence - 4, sent) == nil else { return nil }
                    var header = PacketHeader(
                        sequence: sequence - 4, position: 128 * (sequence - 4), frameCount: 128, byteCount: 256,
                        arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + 0.002),
                        isRecovered: true, wasRequested: sequence % 2 == 0)
                    header.endsCongestion = sequence % 5 == 0
                    return header
                }
                $0.before = { playout, now in
                    let wanted: LatencyProfile = now < 10 ? .talk : now < 20 ? .sing : .listen
                    if playout.latencyProfile != wanted { playout.latencyProfile = wanted }
                }
            }
        },
        RecordedRun(name: "PCM of silence", statistics: 0x5fcc_0485_9306_8f9c, output: 0x15d5_455d_2a06_2ea5) {
            rig(.pcm(frames: 480), block: 480, seconds: 25) {
                $0.says = { _ in 0 }
                $0.delay = { sequence, sent in sent < 5 && sequence % 10 == 0 ? 0.025 : 0.001 }
            }
        },
        RecordedRun(name: "PCM, recorded", statistics: 0xe7ce_9d7e_c946_0f61, output: 0xf575_4d46_dc3a_d22e) {
            rig(PlayoutConfiguration.pcm().forRecording(depth: 0.1), block: 128, seconds: 20) {
                $0.senderPPM = 50
                $0.delay = network(7, jitter: 0.120, loss: 0.02)
            }
        },
        RecordedRun(name: "AAC", statistics: 0xa006_03e8_407c_f4a6, output: 0x9b6a_1dc3_7c7d_4013) {
            rig(.decoded(frames: 1_024), block: 512, seconds: 30) {
                $0.delay = network(8, jitter: 0.030, loss: 0.02)
                $0.restart = 15
            }
        },
        RecordedRun(name: "Opus, recorded", statistics: 0xc771_d35d_8912_69de, output: nil) {
            rig(opus(.opus, frames: 960).forRecording(depth: 0.05), block: 128, seconds: 10) {
                $0.delay = network(9, jitter: 0.060, loss: 0.04)
            }
        },
        RecordedRun(name: "Opus Custom, recorded", statistics: 0x8b94_5a45_775d_07ad, output: nil) {
            rig(opus(.opusCustom, frames: 128).forRecording(depth: 0.01), block: 128, seconds: 10) {
                $0.delay = network(10, jitter: 0.015, loss: 0.04)
                $0.restart = 6
            }
        },
        RecordedRun(name: "PCM with Opus in its place, recorded", statistics: 0xd018_4445_0f36_ea31, output: nil) {
            var configuration = PlayoutConfiguration(
                coding: .pcm, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 480,
                fallback: .opus)
            configuration.fixedDepth = 0.02
            return rig(configuration, block: 480, seconds: 10) {
                $0.delay = network(11, jitter: 0.030, loss: 0.02)
                $0.fallback = { $0 / 150 % 2 == 1 }
            }
        },
    ]
}
