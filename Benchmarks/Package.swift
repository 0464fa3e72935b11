// swift-tools-version: 6.3
import PackageDescription

// Run by scripts/bench. A package of its own, so that Earshot itself depends on nothing that only benchmarks need.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Earshot", path: "..")],
    targets: [
        .systemLibrary(name: "CJACKRing", pkgConfig: "jack"),
        .systemLibrary(name: "CEarshotEBUR128", pkgConfig: "libebur128"),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CSRTPAlone"),
        // Counts allocations in the program that links it.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "earshot-bench",
            dependencies: [
                "BenchScenes", "CJACKRing", "PairedTimes", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioCodecs", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
                .product(name: "EarshotPlayout", package: "Earshot"),
                .product(name: "EarshotSimulation", package: "Earshot"),
            ]),
        // Scenes to measure, shared by the programs that time them and the one that counts their work.
        .target(
            name: "BenchScenes",
            dependencies: [
                .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioCodecs", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
                .product(name: "EarshotAudioEngine", package: "Earshot"),
                .product(name: "EarshotMediaTransport", package: "Earshot"),
            ]),
        .target(name: "PairedTimes", dependencies: [.product(name: "EarshotAudioBase", package: "Earshot")]),
        // Kernels as somebody would write them in C, for the comparison of speed.
        .target(name: "CKernels", cSettings: [.unsafeFlags(["-O3"])]),
        // The tests' sound servers, through a link to their folder.
        .target(name: "TestSupport", dependencies: [.product(name: "EarshotAudioBase", package: "Earshot")]),
        .executableTarget(
            name: "device-bench",
            dependencies: [
                "TestSupport", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioDevices", package: "Earshot"),
            ]),
        // Figures of units: the tests' measures, through a link to their folder, and speed beside the same kernel in C.
        .target(
            name: "UnitMeasures",
            dependencies: [
                "CEarshotEBUR128", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
            ]),
        .executableTarget(
            name: "unit-bench",
            dependencies: [
                "CKernels", "PairedTimes", "UnitMeasures", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
            ]),
        // How a graph sounds while it is edited: the tests' storm of edits, through a link to its folder.
        .target(
            name: "EngineMeasures",
            dependencies: [
                "TestSupport", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
                .product(name: "EarshotAudioEngine", package: "Earshot"),
            ]),
        // Lines with limits, what programs cost, and what the command line asks for, shared by the programs below.
        .target(
            name: "BenchReports",
            dependencies: ["PairedTimes", "UnitMeasures", .product(name: "EarshotAudioBase", package: "Earshot")]),
        // Figures of the engine: what its nodes cost beside nothing, C and sox, and what edits do.
        .executableTarget(
            name: "engine-bench",
            dependencies: [
                "BenchReports", "BenchScenes", "CKernels", "EngineMeasures", "PairedTimes", "TestSupport",
                "UnitMeasures",
                .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
                .product(name: "EarshotAudioDevices", package: "Earshot"),
                .product(name: "EarshotAudioEngine", package: "Earshot"),
                .product(name: "EarshotAudioFiles", package: "Earshot"),
            ]),
        // Figures of files: conversions, seeks and recording beside ffmpeg, sox, flac and lame.
        .executableTarget(
            name: "file-bench",
            dependencies: [
                "BenchReports", "PairedTimes", "TestSupport", "UnitMeasures",
                .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioContainers", package: "Earshot"),
                .product(name: "EarshotAudioDevices", package: "Earshot"),
                .product(name: "EarshotAudioEngine", package: "Earshot"),
                .product(name: "EarshotAudioFiles", package: "Earshot"),
            ]),
        // What protecting and carrying media costs beside the ciphers, signatures and sockets alone, and what a flood does.
        .executableTarget(
            name: "transport-bench",
            dependencies: [
                "BenchReports", "BenchScenes", "CAllocations", "CCrypto", "CSRTPAlone", "PairedTimes", "TestSupport",
                .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioCodecs", package: "Earshot"),
                .product(name: "EarshotAudioDevices", package: "Earshot"),
                .product(name: "EarshotCall", package: "Earshot"),
                .product(name: "EarshotMediaTransport", package: "Earshot"),
            ]),
        // The work that scripts/counts counts under valgrind.
        .target(name: "CCounts"),
        .executableTarget(
            name: "counts",
            dependencies: [
                "BenchScenes", "CCounts", .product(name: "EarshotAudioBase", package: "Earshot"),
                .product(name: "EarshotAudioCodecs", package: "Earshot"),
                .product(name: "EarshotAudioContainers", package: "Earshot"),
                .product(name: "EarshotAudioDSP", package: "Earshot"),
                .product(name: "EarshotAudioDevices", package: "Earshot"),
                .product(name: "EarshotAudioEngine", package: "Earshot"),
                .product(name: "EarshotAudioFiles", package: "Earshot"),
                .product(name: "EarshotCall", package: "Earshot"),
                .product(name: "EarshotMediaTransport", package: "Earshot"),
                .product(name: "EarshotPlayout", package: "Earshot"),
                .product(name: "EarshotSimulation", package: "Earshot"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
