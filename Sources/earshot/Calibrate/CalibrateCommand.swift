// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDiagnostics

struct CalibrateCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate", abstract: "Measure the delay of the sound device for the takes of duets.",
        discussion: """
            Plays five short sweeps, which takes 10 s, and times them from the output to the input. The result is kept for this microphone and loudspeaker, sample rate and block size, and moves the voices that duets record. With headphones, hold one earpiece to the microphone: --distance 1.
            """)

    static let examples = [
        CommandExample("From the loudspeaker to the microphone", "earshot calibrate --distance 30"),
        CommandExample("By a cable from output to input", "earshot calibrate --cable --device jack"),
    ]

    /// The connection of output and input.
    enum Path: String, EnumerableFlag {
        case air, cable

        static func help(for value: Path) -> ArgumentHelp? {
            switch value {
            case .air: "Measure from the loudspeaker to the microphone. [default]"
            case .cable: "Measure by a cable from the output to the input: exact to a frame."
            }
        }
    }

    @OptionGroup(title: "Audio device")
    var card: DeviceOptions

    @Flag(help: "")
    var path = Path.air

    @Option(
        help: ArgumentHelp(
            "Distance from loudspeaker to microphone, 1 to 500 cm. [default: about 30]", valueName: "cm"))
    var distance: Double?

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    /// The distance in metres without `--distance`, and by how much it may be wrong.
    private static let assumedDistance = (metres: 0.3, tolerance: 0.2)
    /// The metres by which the user's distance may be wrong.
    private static let distanceTolerance = 0.05

    func validate() throws {
        guard let distance else { return }
        if path == .cable { throw ValidationError("--distance needs --air") }
        guard (1...500).contains(distance) else { throw ValidationError("--distance must be 1 to 500 (cm)") }
    }

    var loopPath: LoopPath {
        switch (path, distance) {
        case (.cable, _): .cable
        case (.air, nil):
            .air(distance: Self.assumedDistance.metres, tolerance: Self.assumedDistance.tolerance)
        case (.air, let distance?): .air(distance: distance / 100, tolerance: Self.distanceTolerance)
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try CalibrationRunner(self).run()
        }
    }
}
