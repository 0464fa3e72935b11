// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Two switches for builds of this repository. A package that depends on Earshot sets neither.
//   EARSHOT_LAYERS=A,B   builds these layers with their tests, and what they depend on without tests.
//                        `earshot` is the program with CommandTests, `Layer` is LayerTests.
//   EARSHOT_BUILD=KIND   static: links Swift's libraries into the program. (--static-swift-stdlib would compile all anew.)
//                        tsan: for --sanitize=thread. rtsan: links RealtimeSanitizer from .build/rtsan (scripts/test rtsan).
enum Build: String { case plain, `static`, tsan, rtsan }
let build: Build
switch Context.environment["EARSHOT_BUILD"] {
case nil, "": build = .plain
case let name?:
    guard let known = Build(rawValue: name) else { fatalError("EARSHOT_BUILD=\(name): use static, tsan or rtsan") }
    build = known
}

// Under the thread sanitizer LLVM's verifier rejects harmless casts that Swift 6.3.1 generates.
let settings: [SwiftSetting] =
    build == .tsan ? [.unsafeFlags(["-Xcc", "-DEARSHOT_TSAN", "-Xfrontend", "-disable-llvm-verify"])] : []
let linker: [LinkerSetting] =
    build == .rtsan
    ? [.unsafeFlags(["\(Context.packageDirectory)/.build/rtsan/librtsan.a", "-lstdc++", "-lm"])] : []
let programLinker: [LinkerSetting] =
    build == .static
    ? [
        .unsafeFlags([
            "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCollections", "-l_FoundationCShims",
        ])
    ] : []
// Parsers return views of spans, which cannot outlive the bytes (`@_lifetime`).
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]
// Tests are not optimised, since optimising takes longer than running them, except `computingTests`.
let testSettings: [SwiftSetting] = settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
let computingTests: Set = ["AudioDevices", "AudioStreams", "ClockSync", "Duet", "Playout", "VoiceProcessing"]

/// A layer: a library product, a folder of Sources/ and its tests in Tests/.
struct Layer {
    /// The folder's name; `module(_:)` gives the module's.
    var name: String
    /// Layers, shims and products of `packageProducts`.
    var uses: [String]
    /// Further modules that its tests use.
    var testUses: [String] = []
    /// True if each unsafe use of memory in it is marked (SE-0458), for layers that parse data from strangers.
    var isStrict = false
}

// From the bottom to the top. docs/architecture.md has the same table, and Tests/LayerTests compares them.
let allLayers = [
    Layer(name: "AudioBase", uses: ["CRealtime"]),
    Layer(name: "AudioDSP", uses: ["AudioBase", "CRealtime"], testUses: ["UnitMeasures"]),
    Layer(name: "AudioPlugIns", uses: ["AudioBase", "AudioDSP", "CRealtime", "CLilv"], testUses: ["UnitMeasures"]),
    Layer(name: "AudioCodecs", uses: ["AudioBase", "COpus", "CLibAV"], testUses: ["AudioFiles"]),
    Layer(name: "AudioFiles", uses: ["AudioBase", "AudioDSP", "CSndfile", "CLAME", "CTagLib", "CVorbis"]),
    Layer(
        name: "AudioContainers", uses: ["AudioBase", "AudioDSP", "AudioCodecs", "AudioFiles", "CLibAV", "CLibAVFormat"]),
    Layer(
        name: "VoiceProcessing", uses: ["AudioBase", "AudioDSP", "CRealtime", "CVoiceProcessing"],
        testUses: ["AudioFiles"]),
    Layer(
        name: "AudioDevices",
        uses: ["AudioBase", "AudioDSP", "CRealtime", "CJACK", "CPipeWire", "CALSA", "Histogram"],
        testUses: ["ExportedCard"]),
    Layer(
        name: "AudioSession", uses: ["AudioBase", "AudioDSP", "AudioDevices", "CRealtime", "CDBus"],
        testUses: ["ExportedCard"]),
    Layer(
        name: "AudioEngine",
        uses: ["AudioBase", "AudioDSP", "AudioPlugIns", "AudioFiles", "VoiceProcessing", "AudioDevices", "CRealtime"],
        testUses: ["EngineMeasures"]),
    Layer(name: "AudioStreams", uses: ["AudioBase", "AudioDSP", "AudioCodecs", "AudioFiles", "CCurl"]),
    Layer(
        name: "AudioQueues",
        uses: ["AudioBase", "AudioDSP", "AudioCodecs", "AudioContainers", "AudioFiles", "AudioStreams", "AudioEngine"],
        testUses: ["EngineMeasures"]),
    Layer(name: "Playout", uses: ["AudioBase", "AudioDSP", "CRealtime"], testUses: ["AudioCodecs"]),
    Layer(name: "ClockSync", uses: ["AudioBase"], testUses: ["Simulation"]),
    Layer(
        name: "MediaTransport", uses: ["AudioBase", "COpenSSL", "CSRTP", "CRealtime"], testUses: ["OpenSSLClock"],
        isStrict: true),
    Layer(name: "Rooms", uses: ["AudioBase", "MediaTransport", "COpenSSL"], isStrict: true),
    Layer(
        name: "Nearby",
        uses: [
            "AudioBase", "MediaTransport", "Rooms", "CRealtime", "CAvahi", "CDBus", "COpenSSL", "NIOCore", "NIOPosix",
            "NIOHTTP1", "NIOTLS",
        ],
        testUses: ["NIOEmbedded"], isStrict: true),
    Layer(name: "TOMLReader", uses: [], isStrict: true),
    Layer(name: "Spectrum", uses: ["CKissFFT"]),
    Layer(
        name: "Call",
        uses: [
            "AudioBase", "AudioDSP", "AudioCodecs", "AudioDevices", "VoiceProcessing", "Playout", "ClockSync",
            "MediaTransport", "Spectrum", "CRealtime", "CKissFFT",
        ],
        testUses: ["Simulation", "Diagnostics", "AudioFiles", "AudioEngine", "EngineMeasures"]),
    Layer(
        name: "Diagnostics", uses: ["AudioBase", "AudioDSP", "AudioFiles", "Spectrum", "CKissFFT", "CCairo"],
        testUses: ["AudioDevices"]),
    Layer(
        name: "Duet", uses: ["AudioBase", "AudioDSP", "AudioFiles", "AudioContainers", "ClockSync", "CRealtime"],
        testUses: ["EngineMeasures"]),
    Layer(
        name: "LiveCall",
        uses: [
            "AudioBase", "AudioDSP", "AudioFiles", "AudioContainers", "AudioDevices", "AudioSession", "AudioEngine",
            "AudioQueues", "AudioStreams", "VoiceProcessing", "Playout", "ClockSync", "MediaTransport", "Rooms",
            "Nearby",
            "Call", "Duet",
        ],
        testUses: ["Simulation", "EngineMeasures", "CEBUR128"]),
    Layer(
        name: "Simulation",
        uses: [
            "AudioBase", "AudioFiles", "AudioDevices", "Playout", "MediaTransport", "Rooms", "Call", "Diagnostics",
            "Spectrum", "Histogram",
        ]),
]

/// Returns the module of a layer or a shim. The prefix separates it from modules of other packages and from the types in it:
/// `EarshotAudioEngine.AudioEngine`.
func module(_ name: String) -> String {
    if allLayers.contains(where: { $0.name == name }) { return "Earshot\(name)" }
    return name.hasPrefix("C") ? "CEarshot\(name.dropFirst())" : name
}

// MARK: The chosen layers

let named = Context.environment["EARSHOT_LAYERS"].map { Set($0.split(separator: ",").map(String.init)) }
if let unknown = named?.subtracting(allLayers.map(\.name) + ["earshot", "Layer"]).sorted(), !unknown.isEmpty {
    fatalError("EARSHOT_LAYERS: there is no layer \(unknown.joined(separator: ", "))")
}
func isNamed(_ name: String) -> Bool { named?.contains(name) ?? true }

let buildsProgram = isNamed("earshot")
/// The named layers and everything that they or their tests depend on.
let below: Set<String> = {
    if buildsProgram { return Set(allLayers.map(\.name)) }
    var found: Set<String> = []
    var open = allLayers.filter { isNamed($0.name) }.flatMap { [$0.name] + $0.testUses }
    open.append("AudioBase")  // TestSupport uses it.
    while let name = open.popLast() {
        guard found.insert(name).inserted else { continue }
        open += allLayers.first { $0.name == name }?.uses ?? []
    }
    return found
}()
let layers = allLayers.filter { below.contains($0.name) }

let packageProducts: [String: Target.Dependency] = [
    "Histogram": .product(name: "Histogram", package: "hdrhistogram-swift"),
    "NIOCore": .product(name: "NIOCore", package: "swift-nio"),
    "NIOPosix": .product(name: "NIOPosix", package: "swift-nio"),
    "NIOHTTP1": .product(name: "NIOHTTP1", package: "swift-nio"),
    "NIOTLS": .product(name: "NIOTLS", package: "swift-nio"),
    "NIOEmbedded": .product(name: "NIOEmbedded", package: "swift-nio"),
    "ArgumentParser": .product(name: "ArgumentParser", package: "swift-argument-parser"),
]
func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { packageProducts[$0] ?? .byName(name: module($0)) }
}

func tests(_ name: String, uses: [String], areOptimised: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies(uses + ["TestSupport", "TestTraits"]),
        swiftSettings: (areOptimised ? settings : testSettings) + lifetimes, linkerSettings: linker)
}

let strictSettings: [SwiftSetting] =
    [.strictMemorySafety(), .treatWarning("StrictMemorySafety", as: .error)] + lifetimes

func targets(_ layer: Layer) -> [Target] {
    let library = Target.target(
        name: module(layer.name), dependencies: dependencies(layer.uses), path: "Sources/\(layer.name)",
        swiftSettings: settings + (layer.isStrict ? strictSettings : []), linkerSettings: linker)
    guard isNamed(layer.name) else { return [library] }
    return [
        library,
        tests(
            "\(layer.name)Tests", uses: [layer.name] + layer.uses + layer.testUses,
            areOptimised: computingTests.contains(layer.name)),
    ]
}

// MARK: The package

/// A shim for a C library: a folder of Sources/System, pkg-config's name, and Debian's and Ubuntu's package.
func shim(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: module(name), path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}
/// A shim in C++, for a library without a C interface. `library` in its folder has links to the library's headers: SwiftPM
/// warns of the other flags that pkg-config gives. A module map links a library whose name depends on its generation.
func shimInCXX(
    _ name: String, library: String? = nil, headers: [String] = ["library"], defines: [String] = []
) -> Target {
    .target(
        name: module(name), path: "Sources/System/\(name)", exclude: ["library"],
        cxxSettings: headers.map { .headerSearchPath($0) } + defines.map { .define($0) },
        linkerSettings: library.map { [.linkedLibrary($0)] })
}

let package = Package(
    name: "Earshot",
    // TOMLReader belongs to the program; Fuzz/ links to its sources. ClockSync, Duet and Spectrum have nothing public. Products with an
    // underscore are only for Benchmarks/.
    products: layers.filter { !["TOMLReader", "ClockSync", "Duet", "Spectrum"].contains($0.name) }.map {
        .library(name: ($0.name == "Simulation" ? "_" : "") + module($0.name), targets: [module($0.name)])
    } + [.library(name: "_TestSupport", targets: ["TestSupport"])],
    targets: [
        shim("CRealtime"),
        shim("CJACK", pkgConfig: "jack", apt: "libjack-jackd2-dev"),
        shim("CPipeWire", pkgConfig: "libpipewire-0.3", apt: "libpipewire-0.3-dev"),
        shim("CALSA", pkgConfig: "alsa", apt: "libasound2-dev"),
        shim("CDBus", pkgConfig: "dbus-1", apt: "libdbus-1-dev"),
        shim("CAvahi", apt: "libavahi-client-dev"),
        shim("CLilv", pkgConfig: "lilv-0", apt: "liblilv-dev"),
        shim("COpus", pkgConfig: "opus", apt: "libopus-dev"),
        shim("CLibAV", pkgConfig: "libavcodec", apt: "libavcodec-dev"),
        shim("CLibAVFormat", pkgConfig: "libavformat", apt: "libavformat-dev"),
        shim("CSndfile", pkgConfig: "sndfile", apt: "libsndfile1-dev"),
        shim("CLAME", apt: "libmp3lame-dev"),
        shim("CVorbis", pkgConfig: "vorbisenc", apt: "libvorbis-dev"),
        shim("CKissFFT", apt: "libkissfft-dev"),
        shim("CCurl", apt: "libcurl4-openssl-dev"),
        shim("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        shim("CSRTP", pkgConfig: "libsrtp2", apt: "libsrtp2-dev"),
        shim("CCairo", pkgConfig: "cairo", apt: "libcairo2-dev"),
        shim("CEBUR128", pkgConfig: "libebur128", apt: "libebur128-dev"),
        shimInCXX("CVoiceProcessing", headers: ["library", "library/webrtc-1"], defines: ["WEBRTC_POSIX"]),
        shimInCXX("CTagLib", library: "tag"),
        .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: dependencies(["AudioBase"]), path: "Tests/TestSupport",
            swiftSettings: settings),
    ] + layers.flatMap(targets),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

if below.contains("AudioDSP") {
    // Figures of units, for their tests and for scripts/bench units.
    package.products.append(.library(name: "_UnitMeasures", targets: ["UnitMeasures"]))
    package.targets.append(
        .target(
            name: "UnitMeasures", dependencies: dependencies(["AudioBase", "AudioDSP", "CEBUR128"]),
            path: "Tests/UnitMeasures",
            swiftSettings: settings))
}
if isNamed("MediaTransport") {
    // The clock of OpenSSL in the tests' process.
    package.targets.append(.target(name: "OpenSSLClock", path: "Tests/OpenSSLClock"))
}
if below.contains("AudioDevices") {
    // A card in a PipeWire server, for the tests of its routes and profiles.
    package.targets += [
        .target(name: "PipeWireCard", dependencies: dependencies(["CPipeWire"]), path: "Tests/PipeWireCard"),
        .target(
            name: "ExportedCard", dependencies: ["PipeWireCard", "TestSupport"], path: "Tests/ExportedCard",
            swiftSettings: settings),
    ]
}
if below.contains("AudioEngine") {
    // The sound of a graph during edits, for its tests and for scripts/bench engine.
    package.products.append(.library(name: "_EngineMeasures", targets: ["EngineMeasures"]))
    package.targets.append(
        .target(
            name: "EngineMeasures",
            dependencies: dependencies(["AudioBase", "AudioDSP", "AudioEngine", "TestSupport"]),
            path: "Tests/EngineMeasures", swiftSettings: settings))
}
if isNamed("Layer") { package.targets.append(tests("LayerTests", uses: [])) }

if below.contains("AudioDevices") {
    package.dependencies.append(.package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.1.0"))
}
if below.contains("Nearby") {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-nio", from: "2.101.0"))
}
if named == nil {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-docc-plugin", from: "1.4.0"))
}
if buildsProgram {
    package.products.append(.executable(name: "earshot", targets: ["earshot"]))
    package.dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.7.0"))
    package.targets += [
        .executableTarget(
            name: "earshot", dependencies: dependencies(allLayers.map(\.name) + ["ArgumentParser"]),
            swiftSettings: settings, linkerSettings: linker + programLinker),
        // A musician on a JACK server, for the tests of duets.
        .executableTarget(name: "JACKPerformer", dependencies: dependencies(["CJACK"]), path: "Tests/JACKPerformer"),
        tests(
            "CommandTests",
            uses: [
                "earshot", "AudioBase", "AudioCodecs", "AudioContainers", "AudioDSP", "AudioFiles", "MediaTransport",
                "Rooms", "Nearby", "Call", "LiveCall", "TOMLReader",
            ]),
    ]
}
