// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioPlugIns
import EarshotLiveCall
import EarshotMediaTransport
import Testing

@testable import EarshotNearby
@testable import EarshotRooms
@testable import earshot

/// Tests the program's additions to the errors of the libraries.
@Suite struct AdviceTests {
    private struct Silent: Error, CustomStringConvertible { var description: String { "it is so" } }

    @Test func `an error text describes the problem first and the remedy second`() {
        #expect(
            ErrorText.text(AudioDeviceError.noServer(.jack, server: nil, onPipeWire: true))
                == "no JACK server is running, but PipeWire is. Use --device pipewire.")
        #expect(ErrorText.text(Silent()) == "it is so")
        #expect(ErrorText.text(Failure("as it is; --always", status: 64)) == "as it is; --always")
        #expect(ErrorText.join("Is it so?", "See.") == "Is it so? See.")
        #expect(Failure(AudioDeviceError.deviceGone(name: "X")).line.hasPrefix("X is gone. Plug it in again"))
        #expect(
            Failure(StemError.noSong(folder: "/take 1")).line.hasSuffix(
                "A beat has no file: use the recorded voice in '/take 1 recording'."))
        #expect(Failure(AudioFileError.missing(path: "a")).line == "a: no such file. Check the name.")
        #expect(
            Failure(AudioFileError.notAudio(path: "a", reason: "it is empty")).line.hasSuffix(
                "Check that it was copied or recorded completely."))
        #expect(
            Failure(NearbyError.store(.tooLarge("a"))).line.hasSuffix(
                "it should be. Restore it from a copy, or move it elsewhere to start with a new one."))
    }

    @Test(arguments: [
        (AudioDeviceError.noSystem, "--device simulated"),
        (.noServer(.jack, server: "x", onPipeWire: false), "-n x -d"),
        (.noServer(.pipewire, server: nil, onPipeWire: false), "systemctl --user start pipewire"),
        (.noDevice(name: "a", near: ["b", "c"]), "Did you mean 'b' or 'c'?"),
        (.noDevice(name: "a", near: []), "devices"),
        (.otherUsersServer(.pipewire, socket: "/s", owner: "ann"), "as ann"), (.busy(device: "x"), "fuser"),
        (.otherSampleRate(server: 48_000, asked: 44_100), "jackd with -r 44100"),
        (.otherBlock(server: 64, asked: 128), "jack_bufsize 128"), (.notPermitted(device: "x"), "usermod -aG audio"),
    ]) func `the advice for an audio device error names the option or the command to use`(
        error: AudioDeviceError, words: String
    ) {
        #expect(error.advice?.contains(words) == true, "\(String(describing: error.advice))")
        #expect(!error.description.contains(words))
    }

    @Test func `a discovery error names the remedy and says that addresses and join codes still work`() {
        for (error, words) in [
            (DiscoveryError.noDaemon(isInstalled: false), "sudo apt-get install avahi-daemon"),
            (.noDaemon(isInstalled: true), "systemctl start avahi-daemon"), (.noBus, "systemctl start dbus"),
            (.refused(reason: "Access denied"), "status avahi-daemon"),
        ] {
            #expect(error.advice?.contains(words) == true)
            #expect(error.advice?.contains("Addresses and join codes work") == true)
        }
        #expect(RoomAdvertiser.State.unavailable(.noBus).text == ErrorText.text(DiscoveryError.noBus))
    }

    @Test func `every plug-in error has advice that fits in one line`() {
        let errors: [PlugInError] = [
            .notFound(name: "x", near: []), .notFound(name: "x", near: ["y"]),
            .badDescription(plugIn: "x", detail: "y"),
            .noLibrary(plugIn: "x", path: "y"), .requiresFeature(plugIn: "x", feature: "y"),
            .unsupportedPorts(plugIn: "x", detail: "y"),
            .unsupportedChannels(plugIn: "x", inputs: 4, outputs: 2, asked: 2),
            .instantiationFailed(plugIn: "x", sampleRate: 48_000, log: "y"),
        ]
        for error in errors { #expect(error.advice != nil && !ErrorText.text(error).contains("\n")) }
    }

    @Test func `waiting times are shown in seconds below two minutes, otherwise in whole minutes, rounded up`() {
        let texts = [119, 120, 121, 180, 181].map { RoomError.busy(retryAfter: $0).advice ?? "" }
        for (text, time) in zip(texts, ["119 s", "2 minutes", "3 minutes", "3 minutes", "4 minutes"]) {
            #expect(text.hasSuffix("in \(time)."), "\(text)")
        }
        #expect(RoomError.wrongPIN(attemptsLeft: 0).advice?.contains("10 minutes") == true)
    }

    @Test func `a changed key comes with the command to forget it, for both host and guest`() throws {
        let key = try Identity.generate(at: 1_800_000_000).fingerprint
        let error = RoomError.changedKey(name: try PeerName("Anna"), was: key)
        let forget = "earshot peers forget \(key.hex.prefix(16))"
        #expect(error.advice?.contains(forget) == true && !error.description.contains(forget))
        let sentence = try #require(error.hostSentence(about: "'Anna' at 10.0.0.1"))
        #expect(sentence.contains("DIFFERENT KEY") && sentence.hasSuffix(forget))
        #expect(RoomError.notFound.hostSentence(about: "'Anna'") == nil)
        #expect(RoomError.cancelled.hostSentence(about: "Bob") == "Bob no longer asks to join")
        let ending = RoomEnding.changedKey(name: try PeerName("Anna"), was: key, now: key)
        #expect(ErrorText.text(ending).hasSuffix(forget))
    }

    @Test func `a file that cannot be sent comes with advice`() {
        #expect(TransferError.isDirectory("/home/me/songs").advice?.contains("tar -czf songs.tar.gz") == true)
        for error in [TransferError.remoteDiskFull, .remoteDisk, .declined, .damaged, .busy, .gone] {
            #expect(error.advice != nil)
        }
    }

    private static let grant = RealTimeScheduling.Grant(
        file: "/etc/security/limits.d/pipewire.conf", group: "pipewire", priority: 95, isMember: false)

    @Test(arguments: [
        (
            RealTimeScheduling.Obstacle.limit(0, .newFile),
            ["'@audio - rtprio 95'", "limits.d/audio.conf", "log in again"]
        ),
        (
            .limit(0, .disabledFile("/x.disabled")),
            ["/x.disabled", "dpkg-reconfigure", "usermod -aG audio", "log in again"]
        ),
        (.limit(0, .group(grant)), ["usermod -aG pipewire", "limits.d/pipewire.conf", "log in again"]),
        (.limit(0, .login(grant)), ["the group pipewire", "log in again"]),
        (.limit(0, .container), ["--cap-add SYS_NICE", "--ulimit rtprio=95"]),
        (.switchedOff, ["/etc/sysctl.d/60-realtime.conf"]), (.groupWithoutBudget(file: "/sys/f"), ["/sys/f"]),
    ]) func `the advice for denied real-time scheduling names the file to change in one line`(
        obstacle: RealTimeScheduling.Obstacle, words: [String]
    ) {
        for word in words { #expect(obstacle.advice.contains(word), "\(obstacle.advice)") }
        #expect(!obstacle.advice.contains("\n"))
    }

    @Test func `the scheduling description includes what to change when real-time scheduling was denied`() {
        var facts = RealTimeScheduling()
        #expect(
            facts.describe(granted: nil).hasPrefix("normal scheduling: real-time scheduling was denied. Add '@audio"))
        #expect(facts.describe(granted: 70) == "SCHED_FIFO 70")
        facts.hasCapability = true
        #expect(facts.describe(granted: nil).hasSuffix("runs its callbacks without"))
    }

    @Test(arguments: MicrophoneCheck.Finding.allCases)
    func `every microphone problem comes with one-line advice`(finding: MicrophoneCheck.Finding) {
        #expect((finding.advice == nil) == (finding == .fine))
        #expect(finding.advice?.contains("\n") != true)
    }

    @Test func `the advice gives the command that opens a port in each kind of firewall`() {
        let ufw = Firewall(.ufw, openings: nil)
        #expect(ufw.command(opening: 47_400, [.udp]) == "sudo ufw allow 47400/udp")
        #expect(ufw.command(opening: 47_400, [.tcp, .udp]) == "sudo ufw allow 47400")
        let firewalld = Firewall(.firewalld, openings: nil)
        #expect(firewalld.command(opening: 47_400, [.udp]) == "sudo firewall-cmd --add-port=47400/udp")
        #expect(
            firewalld.command(opening: 47_400, [.tcp, .udp])
                == "sudo firewall-cmd --add-port=47400/tcp --add-port=47400/udp")
        let rules = Firewall(.nftables([.init(family: "inet", table: "filter", name: "input")]), openings: nil)
        #expect(
            rules.command(opening: 47_400, [.udp]) == "sudo nft insert rule inet filter input udp dport 47400 accept")
    }

    @Test(arguments: [0.2, .infinity, .nan, -1, 1e300])
    func `advice on a Bluetooth device states the delay it reports, unless that value is implausible`(latency: Double)
        throws
    {
        let device = AudioDeviceDescription(
            id: "a", backend: .pipewire, name: "A", transport: .bluetooth, inputChannelCount: 0, outputChannelCount: 2,
            outputLatency: latency)
        let advice = try #require(DeviceFormatting.advice(device))
        #expect(advice.contains("own account") == (latency == 0.2))
    }

    @Test func `advice on a Bluetooth headset states the cost of its microphone`() throws {
        var device = AudioDeviceDescription(
            id: "a", backend: .pipewire, name: "A", transport: .bluetooth, form: .headset, inputChannelCount: 0,
            outputChannelCount: 2)
        for (profile, words) in [
            (.music(hasCallProfile: true), "only in call mode, in mono and telephone quality"),
            (.music(hasCallProfile: false), "no microphone for calls"),
            (.call(codec: "msbc", sampleRate: 16_000), "It is in call mode: mono, 16 kHz (msbc). Music mode returns"),
            (.call(codec: "", sampleRate: nil), "It is in call mode: mono. Music"),
        ] as [(AudioDeviceDescription.HeadsetProfile, String)] {
            device.headsetProfile = profile
            let advice = try #require(DeviceFormatting.advice(device))
            #expect(advice.contains(words) && advice.contains("delays sound"), "\(advice)")
        }
    }

    @Test func `a microphone's obstacle comes with one-line advice`() {
        #expect(RecordPermission.granted.advice(for: "A") == nil)
        let reasons: [(RecordPermission, String)] = [
            (.denied(.muted), "A is muted. Unmute it"), (.denied(.zeroVolume), "The volume of A is 0."),
            (.denied(.hardwareSwitch), "A privacy key has turned off A."),
            (.unknown(.hardwareSwitch), "If others do not hear you"), (.denied(.notPluggedIn), "socket of A"),
            (.denied(.noAccess(path: "/dev/snd/pcmC0D0c")), "usermod -aG audio"), (.unknown(.sandbox), "sandbox"),
            (.unknown(.noMicrophone), "earshot devices"),
        ]
        for (permission, words) in reasons {
            let advice = permission.advice(for: "A") ?? ""
            #expect(advice.contains(words) && !advice.contains("\n"), "\(advice)")
        }
    }
}
