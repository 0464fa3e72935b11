// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Built by scripts/fuzz. It gives the instrumentation and libFuzzer on the command line, so that they apply to the library, too,
// and no manifest has unsafeFlags.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Earshot", path: "..")],
    targets: [
        // Links to the sources: no product of Earshot contains them without the network's libraries.
        .target(name: "EarshotTOMLReader"),
        .target(
            name: "Announcements",
            dependencies: [
                .product(name: "EarshotMediaTransport", package: "Earshot"),
                .product(name: "EarshotRooms", package: "Earshot"),
            ]),
        .target(name: "CallSocketParsing"),
        .target(name: "DuetParsing", dependencies: [.product(name: "EarshotAudioBase", package: "Earshot")]),
        .target(name: "HTTPParsing"),
        .target(name: "PacketRules"),
        .target(name: "TransferParsing"),
        // It imports COpenSSL, which comes with MediaTransport.
        .target(name: "TLS", dependencies: [.product(name: "EarshotMediaTransport", package: "Earshot")]),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Announcements", "CallSocketParsing", "DuetParsing", "HTTPParsing", "PacketRules", "TLS",
                "EarshotTOMLReader",
                "TransferParsing",
                .product(name: "EarshotAudioContainers", package: "Earshot"),
                .product(name: "EarshotAudioFiles", package: "Earshot"),
                .product(name: "EarshotAudioCodecs", package: "Earshot"),
                .product(name: "EarshotMediaTransport", package: "Earshot"),
                .product(name: "EarshotRooms", package: "Earshot"),
                .product(name: "EarshotAudioStreams", package: "Earshot"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
