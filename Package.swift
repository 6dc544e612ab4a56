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
    dependencies: [],
    targets: [
        .target(name: "Navigation", swiftSettings: settings),
        .target(name: "Contracts", dependencies: ["EventBus", "Navigation"], swiftSettings: settings),
        .target(
            name: "Vocabulary", dependencies: ["EventBus", "Contracts"], path: "Sources/FocusPlayer/Vocabulary",
            swiftSettings: settings),
        .target(name: "EventBus", path: "Sources/Bus/EventBus", swiftSettings: settings),
    ]
)
