// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "segue",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Navigation", swiftSettings: settings),
        .target(name: "Contracts", dependencies: ["EventBus", "Navigation"], swiftSettings: settings),
        .target(
            name: "Vocabulary", dependencies: ["EventBus", "Contracts"], path: "Sources/FocusPlayer/Vocabulary",
            swiftSettings: settings),
        .target(name: "EventBus", path: "Sources/Bus/EventBus", swiftSettings: settings),
        .systemLibrary(name: "CZeroMQ", path: "Sources/Bus/CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .target(name: "ZeroMQ", dependencies: ["CZeroMQ"], path: "Sources/Bus/ZeroMQ", swiftSettings: settings),
        .target(
            name: "Broker",
            dependencies: [
                "EventBus", "BusProtocol", "ZeroMQ", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bus/Broker", swiftSettings: settings),
        .target(
            name: "ZeroMQEventBus",
            dependencies: [
                "EventBus", "BusProtocol", "ZeroMQ", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bus/ZeroMQEventBus", swiftSettings: settings),
        .target(
            name: "BusProtocol", dependencies: ["EventBus"], path: "Sources/Bus/BusProtocol", swiftSettings: settings),
        .target(
            name: "BusConformance", dependencies: ["EventBus"], path: "Tests/BusConformance", swiftSettings: settings),
        .testTarget(name: "EventBusTests", dependencies: ["EventBus", "BusConformance"], swiftSettings: settings),
        .testTarget(name: "BusProtocolTests", dependencies: ["BusProtocol", "EventBus"], swiftSettings: settings),
        .testTarget(
            name: "ZeroMQEventBusTests",
            dependencies: [
                "ZeroMQEventBus", "BusProtocol", "EventBus", "Broker", "BusConformance",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BrokerTests",
            dependencies: ["Broker", "BusProtocol", "EventBus", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
    ]
)
