// swift-tools-version: 6.2
import PackageDescription

// Build switches, all off by default, so that a package which depends on Earshot gets a plain manifest
// (SwiftPM refuses unsafeFlags in dependencies).
//   EARSHOT_CORE=1   leaves out the command line, Nearby, and the packages that only they need: sanitizer, fuzz, benchmark
//                    builds. Nearby is there all the same where EARSHOT_LAYERS names it.
//   EARSHOT_RTSAN=P  links RealtimeSanitizer's runtime at path P, which then watches every render call
//   EARSHOT_TSAN=1   what the thread sanitizer's build needs
//   EARSHOT_LAYERS=A,B   only these layers
//   EARSHOT_TESTS=A,B    of tests only those of these layers
//   EARSHOT_STATIC=1 links the program with Swift's libraries in it. (SwiftPM's --static-swift-stdlib would also compile all anew.)
//   EARSHOT_PLAIN_TESTS=1   tests are not optimised where what they test is: their build takes a third of the time
let core = Context.environment["EARSHOT_CORE"] == "1"
let rtsan = Context.environment["EARSHOT_RTSAN"]

let tsan = Context.environment["EARSHOT_TSAN"] != nil
// Swift 6.3.1 gives LLVM's verifier casts that it refuses under the thread sanitizer, harmless ones.
let settings: [SwiftSetting] =
    tsan ? [.unsafeFlags(["-Xcc", "-DEARSHOT_TSAN", "-Xfrontend", "-disable-llvm-verify"])] : []
let testSettings: [SwiftSetting] =
    settings + (Context.environment["EARSHOT_PLAIN_TESTS"] == "1" ? [.unsafeFlags(["-Onone"])] : [])
/// Layers whose tests compute so much by themselves that they are optimised all the same.
let busyTests: Set = ["AudioDevices", "AudioStreams", "Playout", "VoiceProcessing"]
let tested = Context.environment["EARSHOT_TESTS"]?.split(separator: ",").map(String.init)
let linker: [LinkerSetting] = rtsan.map { [.unsafeFlags([$0, "-lstdc++", "-lm"])] } ?? []
let whole: [LinkerSetting] =
    Context.environment["EARSHOT_STATIC"] == "1"
    ? [
        .unsafeFlags([
            "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCollections", "-l_FoundationCShims",
        ])
    ] : []

/// What a layer's tests use besides: a call's delay is measured as `earshot analyze` does it.
let testDependencies: [String: [Target.Dependency]] = [
    "Call": ["Simulation", "Diagnostics", "AudioFiles"], "Diagnostics": ["AudioDevices"], "AudioDSP": ["UnitMeasures"],
    "AudioPlugIns": ["UnitMeasures"], "AudioCodecs": ["AudioFiles"], "AudioEngine": ["EngineMeasures"],
    "AudioQueues": ["EngineMeasures"], "VoiceProcessing": ["AudioFiles"],
]

/// One layer: a library product, a folder under Sources/, and its tests under Tests/.
func layer(_ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
    let target = Target.target(name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: linker)
    guard tested?.contains(name) ?? true else { return [target] }
    return [
        target,
        .testTarget(
            name: "\(name)Tests",
            dependencies: [.byName(name: name)] + dependencies + (testDependencies[name] ?? []) + [
                "TestSupport", "TestTraits",
            ],
            swiftSettings: busyTests.contains(name) ? settings : testSettings, linkerSettings: linker),
    ]
}

func system(_ name: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig)
}

let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")

// From the bottom to the top; docs/architecture.md has the same table and Tests/LayerTests reads both.
let allLayers: [(name: String, dependencies: [Target.Dependency])] = [
    ("AudioBase", ["CRealtime"]),
    ("AudioDSP", ["AudioBase", "CRealtime"]),
    ("AudioPlugIns", ["AudioBase", "AudioDSP", "CRealtime", "CLilv"]),
    ("AudioCodecs", ["AudioBase", "COpus", "CLibAV"]),
    ("AudioFiles", ["AudioBase", "AudioDSP", "CSndfile", "CLAME", "CTagLib", "CVorbis"]),
    ("AudioContainers", ["AudioBase", "AudioDSP", "AudioCodecs", "AudioFiles", "CLibAV", "CLibAVFormat"]),
    ("VoiceProcessing", ["AudioBase", "AudioDSP", "CRealtime", "CVoiceProcessing"]),
    (
        "AudioDevices",
        ["AudioBase", "AudioDSP", "CRealtime", "CJACK", "CPipeWire", "CALSA", histogram]
    ),
    ("AudioSession", ["AudioBase", "AudioDSP", "AudioDevices", "CRealtime", "CDBus"]),
    (
        "AudioEngine",
        ["AudioBase", "AudioDSP", "AudioPlugIns", "AudioFiles", "VoiceProcessing", "AudioDevices", "CRealtime"]
    ),
    ("AudioStreams", ["AudioBase", "AudioDSP", "AudioCodecs", "AudioFiles", "CCurl"]),
    (
        "AudioQueues",
        ["AudioBase", "AudioDSP", "AudioCodecs", "AudioContainers", "AudioFiles", "AudioStreams", "AudioEngine"]
    ),
    ("Playout", ["AudioBase", "AudioDSP", "AudioCodecs", "CRealtime"]),
    ("MediaTransport", ["AudioBase", "COpenSSL", "CSRTP", "CRealtime"]),
    ("Rooms", ["AudioBase", "MediaTransport", "COpenSSL"]),
    (
        "Nearby",
        [
            "AudioBase", "MediaTransport", "Rooms", "CRealtime", "CAvahi", "CDBus",
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ] + ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOTLS"].map { .product(name: $0, package: "swift-nio") }
    ),
    ("TOMLReader", []),
    (
        "Call",
        [
            "AudioBase", "AudioDSP", "AudioCodecs", "AudioDevices", "AudioEngine", "VoiceProcessing", "Playout",
            "MediaTransport", "CRealtime",
        ]
    ),
    ("Diagnostics", ["AudioBase", "AudioDSP", "AudioFiles", "CKissFFT", "CCairo"]),
    (
        "Simulation",
        [
            "AudioBase", "AudioFiles", "AudioDevices", "Playout", "MediaTransport", "Call", "Diagnostics", histogram,
        ]
    ),
]
let chosen = Context.environment["EARSHOT_LAYERS"]?.split(separator: ",").map(String.init)
let layers = allLayers.filter { chosen?.contains($0.name) ?? !(core && $0.name == "Nearby") }

let package = Package(
    name: "Earshot",
    // TOMLReader is the command line's own; Fuzz/ links to its sources.
    products: layers.filter { $0.name != "TOMLReader" }.map { .library(name: $0.name, targets: [$0.name]) },
    targets: [
        system("CRealtime"),
        system("CJACK", pkgConfig: "jack"),
        system("CPipeWire", pkgConfig: "libpipewire-0.3"),
        system("CALSA", pkgConfig: "alsa"),
        system("CDBus", pkgConfig: "dbus-1"),
        system("CAvahi"),
        system("CLilv", pkgConfig: "lilv-0"),
        system("COpus", pkgConfig: "opus"),
        system("CLibAV", pkgConfig: "libavcodec"),
        system("CLibAVFormat", pkgConfig: "libavformat"),
        system("CSndfile", pkgConfig: "sndfile"),
        system("CLAME"),
        system("CVorbis", pkgConfig: "vorbisenc"),
        system("CKissFFT"),
        system("CCurl", pkgConfig: "libcurl"),
        system("COpenSSL", pkgConfig: "openssl"),
        system("CSRTP", pkgConfig: "libsrtp2"),
        system("CCairo", pkgConfig: "cairo"),
        system("CEBUR128", pkgConfig: "libebur128"),
        // The targets in C++, since their libraries have no C interface. `library` is a link to where its headers are:
        // SwiftPM warns of the other flags that pkg-config gives for it, in each build.
        .target(
            name: "CVoiceProcessing", path: "Sources/System/CVoiceProcessing", exclude: ["library"],
            cxxSettings: [.headerSearchPath("library"), .define("WEBRTC_POSIX")],
            linkerSettings: [.linkedLibrary("webrtc_audio_processing")]),
        .target(
            name: "CTagLib", path: "Sources/System/CTagLib", exclude: ["library"],
            cxxSettings: [.headerSearchPath("library")], linkerSettings: [.linkedLibrary("tag")]),
        .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: settings),
        .target(name: "TestSupport", dependencies: ["AudioBase"], path: "Tests/TestSupport", swiftSettings: settings),
        // Figures of units, for their tests and for scripts/bench units.
        .target(
            name: "UnitMeasures", dependencies: ["AudioBase", "AudioDSP", "CEBUR128"], path: "Tests/UnitMeasures",
            swiftSettings: settings),
    ] + layers.flatMap { layer($0.name, $0.dependencies) },
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx14
)

if tested == nil {
    package.targets.append(
        .testTarget(
            name: "LayerTests", dependencies: ["TestSupport"], swiftSettings: testSettings, linkerSettings: linker))
}

if layers.contains(where: { $0.name == "AudioDevices" }) {
    package.dependencies.append(.package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.1.0"))
}

if layers.contains(where: { $0.name == "Nearby" }) {
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    ]
}

// How a graph sounds while it is edited, for its tests and for scripts/bench engine.
if layers.contains(where: { $0.name == "AudioEngine" }) {
    package.targets.append(
        .target(
            name: "EngineMeasures", dependencies: ["AudioBase", "AudioDSP", "AudioEngine", "TestSupport"],
            path: "Tests/EngineMeasures", swiftSettings: settings))
}

if !core {
    package.products.append(.executable(name: "earshot", targets: ["earshot"]))
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-docc-plugin", from: "1.4.0"),
    ]
    package.targets.append(
        .executableTarget(
            name: "earshot",
            dependencies: [
                "AudioBase", "AudioCodecs", "AudioContainers", "AudioDSP", "AudioDevices", "AudioEngine", "AudioFiles",
                "AudioPlugIns", "AudioQueues", "AudioSession", "AudioStreams", "VoiceProcessing", "MediaTransport",
                "Rooms", "Nearby", "Playout", "Call", "Diagnostics", "Simulation", "TOMLReader",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings, linkerSettings: linker + whole))
    package.targets.append(
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "earshot", "AudioBase", "AudioCodecs", "AudioContainers", "AudioDSP", "AudioFiles", "MediaTransport",
                "Rooms", "Nearby", "TestSupport", "TestTraits", "TOMLReader",
            ],
            swiftSettings: testSettings, linkerSettings: linker))
}
