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

// MARK: Dependencies

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncAlgorithms = Target.Dependency.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let orderedCollections = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// MARK: Layers, from the lowest: a module depends only on modules that are declared before it

let support: [Target] = [
    module("Support")
]

let systemSupport: [Target] = [
    .systemLibrary(name: "CEventDescriptor", path: "Sources/SystemSupport/CEventDescriptor"),
    module("SystemSupport", in: "SystemSupport", ["CEventDescriptor", "Support"]),
    .systemLibrary(name: "CSodium", path: "Sources/SystemSupport/CSodium", providers: [.apt(["libsodium-dev"])]),
    module("CommandLineSupport", in: "SystemSupport", ["SystemSupport", argumentParser]),
    module("Sodium", in: "SystemSupport", ["CSodium"]),
    .systemLibrary(name: "CCurl", path: "Sources/SystemSupport/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    module("HTTPClient", in: "SystemSupport", ["CCurl", "Support", httpTypes]),
    module(
        "HTTPOperations", in: "SystemSupport",
        [
            "Support", "SystemSupport", httpTypes, hummingbird, hummingbirdCore, lifecycle, logging, nioCore, nioHTTP1,
        ]),
]

let bus: [Target] = [
    .systemLibrary(name: "CZeroMQ", path: "Sources/Bus/CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
    module("ZeroMQ", in: "Bus", ["CZeroMQ", "SystemSupport"]),
    .systemLibrary(name: "CNATS", path: "Sources/Bus/CNATS", providers: [.apt(["libnats-dev"])]),
    module("NATS", in: "Bus", ["CNATS", "Sodium", "Support", "SystemSupport", deque]),
    module("EventBus", in: "Bus", ["Support"]),
    module("BusKeys", in: "Bus", ["EventBus", "Sodium", "Support", "SystemSupport"]),
    module("BusAccess", in: "Bus", ["BusKeys", "EventBus", "Support"]),
    module("BusFormat", in: "Bus", ["EventBus", "Support", logging]),
    module("BusProtocol", in: "Bus", ["BusFormat", "EventBus", "Support"]),
    module(
        "ZeroMQEventBus", in: "Bus",
        [
            "BusFormat", "BusKeys", "BusProtocol", "EventBus", "Support", "SystemSupport", "ZeroMQ", deque, logging,
            orderedCollections,
        ]),
    module("NATSLayout", in: "Bus", ["BusFormat", "EventBus", "Support", deque]),
    module("NATSPermissions", in: "Bus", ["BusAccess", "BusKeys", "EventBus", "NATSLayout", "Sodium", "Support"]),
    module("NATSJournal", in: "Bus", ["BusFormat", "EventBus", "NATS", "NATSLayout"]),
    module(
        "NATSEventBus", in: "Bus",
        ["BusFormat", "EventBus", "NATS", "NATSJournal", "NATSLayout", "Support", deque, logging]),
    module("Steward", in: "Bus", ["BusFormat", "EventBus", "NATS", "NATSJournal", "NATSLayout", "Support", logging]),
    module(
        "Transports", in: "Bus", ["EventBus", ifNATS("NATSEventBus"), "Support", "ZeroMQEventBus", logging]),
    module(
        "Broker", in: "Bus",
        [
            "BusAccess", "BusFormat", "BusKeys", "BusProtocol", "EventBus", "Sodium", "Support", "SystemSupport",
            "ZeroMQ", deque, grdb, grdbSQLite, logging,
        ]),
]

let navigation: [Target] = [
    module("Navigation", ["Support"]),
    module("YAMLText", in: "Flows", ["Support", yams]),
    module("FlowFiles", in: "Flows", ["Navigation", "Support", "YAMLText", yams]),
    module("FlowReview", in: "Flows", ["FlowFiles", "Navigation", "Support"]),
    module("FlowExploration", in: "Flows", ["FlowFiles", "FlowReview", "Navigation", "Support"]),
]

let contracts: [Target] = [
    module("Contracts", in: "Contracts", ["EventBus", "Navigation", "Support"]),
    module(
        "AppContract", in: "Contracts",
        ["Contracts", "EventBus", "FlowReview", "Navigation", "Support"]),
]

let runtime: [Target] = [
    module("Projects", in: "Runtime", ["Support", "SystemSupport"]),
    module(
        "Consuming", in: "Runtime", ["Contracts", "EventBus", "Navigation", "Support", deque, heap, lifecycle, logging]),
    module(
        "ServiceRuntime", in: "Runtime",
        [
            "CommandLineSupport", "Consuming", "Contracts", "EventBus", "FlowFiles", "Navigation",
            "Support", "SystemSupport", "Transports", argumentParser, configuration, lifecycle, logging, signals,
        ]),
    module("ErrorNotification", in: "Runtime", ["Consuming", "Contracts", "EventBus", "Support", logging]),
    module("Coordinator", in: "Runtime", ["Consuming", "Contracts", "EventBus", "Navigation", "Support", logging]),
    module(
        "PlatformPrograms", in: "Runtime",
        [
            "Contracts", "Coordinator", "ErrorNotification", "EventBus", "Navigation", "ServiceRuntime", "Support",
            argumentParser,
        ]),
    module(
        "BrokerProgram", in: "Runtime",
        [
            "Broker", "BusKeys", "Consuming", "Contracts", "EventBus", ifNATS("NATS"), "NATSLayout", "ServiceRuntime",
            ifNATS("Steward"), "Support", "SystemSupport", "Transports", argumentParser, lifecycle, logging,
        ]),
    module("Routing", in: "Runtime", ["Contracts", "EventBus", "Navigation", "Support"]),
]

let devices: [Target] = [
    module(
        "Device", in: "Devices",
        ["Consuming", "Contracts", "EventBus", "FlowFiles", "Navigation", "Support", logging]),
    module("Opening", in: "Devices", ["Device", "Support", subprocess, systemPackage]),
    module(
        "TerminalDevice", in: "Devices",
        [
            "Consuming", "Contracts", "Device", "EventBus", "Navigation", "Opening", "Projects", "ServiceRuntime",
            "Support", "SystemSupport", "Transports", argumentParser, asyncAlgorithms, lifecycle, logging, subprocess,
            systemPackage,
        ]),
    module("SignIn", in: "Devices", ["EventBus", "Sodium", "Support", "SystemSupport"]),
    module(
        "WebPage", in: "Devices",
        [
            "Consuming", "EventBus", "HTTPOperations", "SignIn", "Sodium", "Support", "SystemSupport", deque, httpTypes,
            hummingbird, lifecycle, logging, nioCore, nioPosix,
        ],
        // `Assets` finds the files beside the program.
        resources: [.copy("Page")]),
    module(
        "WebDevice", in: "Devices",
        [
            "Consuming", "Contracts", "Device", "EventBus", "Navigation", "SignIn", "Support", "WebPage", deque,
            hummingbird, logging,
        ]),
]

/// The commit that is built, which `make install` sets; an empty string otherwise. `Context.gitInformation` would name
/// an old commit, because the package manager caches the result of this file.
let commit = Context.environment["SEGUE_COMMIT"] ?? ""

let tools: [Target] = [
    .target(
        name: "CSegueVersion", path: "Sources/Tools/CSegueVersion",
        cSettings: [
            .define("SEGUE_COMMIT", to: "\"\(commit)\""),
            .define("SEGUE_SOURCE", to: "\"\(commit.isEmpty ? Context.packageDirectory : "")\""),
        ]),
    module(
        "Compose", in: "Tools",
        [
            "Projects", "Support", "SystemSupport", "YAMLText", logging, orderedCollections, subprocess, systemPackage,
            yams,
        ]),
    module("FlowDrawing", in: "Tools", ["FlowReview", "Navigation", "Support", subprocess, systemPackage]),
    module(
        "Monitor", in: "Tools",
        [
            "AppContract", "Contracts", "EventBus", "FlowExploration", "FlowReview", "Navigation", "Support",
            "SystemSupport", systemPackage,
        ]),
    module(
        "SegueTestSupport", in: "Tools",
        [
            "Compose", "Consuming", "Contracts", "Coordinator", "ErrorNotification", "EventBus", "FlowFiles",
            "FlowReview", "Monitor", "Navigation", "Support", "Transports", lifecycle, logging,
        ]),
    module(
        "WebInspector", in: "Tools",
        [
            "AppContract", "Consuming", "Contracts", "EventBus", "FlowDrawing", "FlowFiles", "FlowReview", "Monitor",
            "Navigation", "SignIn", "Support", "SystemSupport", "WebPage", deque, httpTypes, hummingbird,
        ]),
    module(
        "WebGatewayProgram", in: "Tools",
        [
            "Device", "EventBus", "ServiceRuntime", "SignIn", "Support", "WebDevice", "WebInspector", "WebPage",
            argumentParser,
        ]),
    module("Scaffold", in: "Tools", ["Contracts", "EventBus", "FlowFiles", "Navigation", "Support"]),
    // The baseline of the benchmarks on NATS: libnats alone, without Swift.
    .target(name: "CJetStreamPeer", dependencies: ["CNATS"], path: "Sources/Tools/CJetStreamPeer"),
    module(
        "Benchmarks", in: "Tools",
        [
            "BusFormat", "BusKeys", "BusProtocol", "CJetStreamPeer", "Compose", "Contracts", "EventBus", "FlowFiles",
            "NATS",
            "NATSLayout",
            "Navigation", "Support", "SystemSupport", "Transports", "ZeroMQ", argumentParser, grdbSQLite, logging,
            subprocess,
            systemPackage,
        ]),
    module(
        "SegueCommands", in: "Tools",
        [
            "AppContract", "Broker", "BusAccess", "BusKeys", "CSegueVersion", "CommandLineSupport", "Compose",
            "Contracts", "EventBus", "FlowDrawing",
            "FlowExploration", "FlowFiles", "FlowReview", "Monitor", "NATSPermissions", "Navigation", "Opening",
            "Projects",
            "Scaffold", "SignIn", "Support", "SystemSupport", "Transports", argumentParser, logging, subprocess,
            systemPackage,
        ]),
]

let focusPlayer: [Target] = [
    module("Vocabulary", in: "FocusPlayer", ["Contracts", "EventBus", "Support"]),
    module("Authorization", in: "FocusPlayer/Domain", ["Contracts", "EventBus", "Sodium", "Support", "Vocabulary"]),
    module("Music", in: "FocusPlayer/Domain", ["Contracts", "EventBus", "Support", "Vocabulary"]),
    module(
        "SpotifyAPI", in: "FocusPlayer/Data",
        ["Authorization", "HTTPClient", "Music", "Support", "Vocabulary", httpTypes]),
    module(
        "TokenVault", in: "FocusPlayer/Data",
        ["Authorization", "EventBus", "Music", "Sodium", "Support", "SystemSupport"]),
    module(
        "Repositories", in: "FocusPlayer/Data", ["Music", "Support", "SystemSupport", "Vocabulary", grdb, logging]),
    module(
        "ConsentCallback", in: "FocusPlayer/Data",
        [
            "Authorization", "Contracts", "HTTPOperations", "Support", httpTypes, hummingbird, lifecycle, logging,
            nioCore,
        ]),
    module(
        "Services", in: "FocusPlayer",
        [
            "Authorization", "ConsentCallback", "Consuming", "Contracts", "EventBus", "HTTPClient", "Music",
            "Navigation", "Repositories", "ServiceRuntime", "SpotifyAPI", "Support", "TokenVault", "Vocabulary",
            argumentParser, logging,
        ]),
    module("Presentation", in: "FocusPlayer", ["Contracts", "Device", "EventBus", "Vocabulary"]),
    module(
        "SpotifySimulator", in: "FocusPlayer",
        [
            "Consuming", "HTTPOperations", "ServiceRuntime", "Sodium", "Support", "SystemSupport", "YAMLText",
            argumentParser, httpTypes, hummingbird, lifecycle, logging, nioCore, nioPosix, yams,
        ]),
    module(
        "InProcess", in: "FocusPlayer",
        [
            "Device", "HTTPClient", "HTTPOperations", "Navigation", "PlatformPrograms", "ServiceRuntime", "Services",
            "SpotifySimulator", "SystemSupport", "TerminalDevice", argumentParser, logging,
        ]),
    module(
        "FocusPlayerProgram", in: "FocusPlayer",
        [
            "Device", "InProcess", "Presentation", "ServiceRuntime", "TerminalDevice", "WebGatewayProgram",
            argumentParser,
        ]),
]

/// Small apps, each of which shows one way of navigating. `docs/programs.md` explains them.
let examples: [Target] = [
    module("Brewing", in: "Examples", ["Consuming", "Contracts", "EventBus", "Support"]),
    module("Onboarding", in: "Examples", ["Consuming", "Contracts", "EventBus", "Navigation", "Support"]),
    module("Stations", in: "Examples", ["Navigation", "Routing"]),
    module("ThreeScreens", in: "Examples", ["Consuming", "Contracts", "EventBus", "Navigation", "Support"]),
]

let executables: [Target] = [
    executable("auth-service", ["ServiceRuntime", "Services"]),
    executable("broker", ["BrokerProgram", "ServiceRuntime"]),
    executable("brewer", ["Brewing", "ServiceRuntime"]),
    executable("device", ["ServiceRuntime", "TerminalDevice"]),
    executable("error-notifier", ["PlatformPrograms", "ServiceRuntime"]),
    executable("focus-player", ["FocusPlayerProgram", "ServiceRuntime"]),
    executable("music-service", ["ServiceRuntime", "Services"]),
    executable("navigation-coordinator", ["PlatformPrograms", "ServiceRuntime"]),
    executable("onboarding-service", ["Onboarding", "ServiceRuntime"]),
    executable("segue", ["SegueCommands"]),
    executable(
        "segue-bench",
        ["Benchmarks", "CommandLineSupport", "EventBus", "Support", "SystemSupport", argumentParser, logging]),
    // What an installation has instead of the programs: all of them in one file.
    executable(
        "segue-programs",
        [
            "BrokerProgram", "FocusPlayerProgram", "PlatformPrograms", "SegueCommands", "ServiceRuntime", "Services",
            "SpotifySimulator", "Support", "TerminalDevice", "WebGatewayProgram",
        ]),
    executable("spotify-simulator", ["ServiceRuntime", "SpotifySimulator"]),
    executable("timer-service", ["ServiceRuntime", "ThreeScreens"]),
    executable("web-gateway", ["ServiceRuntime", "WebGatewayProgram"]),
]

// MARK: Tests

// What tests share, from the lowest:
// - TestSupport: folders, programs in processes of their own, raw connections, logs, messages and faulty buses; for
//   all.
// - SampleFlows, HostileValues: flows and sessions; values that no client sends, made from valid ones and from schemas.
// - BusConformance: the cases that a bus on each engine has to pass. A test target, because it uses Swift Testing,
//   which is not available when everything is linked statically.
// - BusFuzz, BusStranger: invalid requests to the broker; any bytes, as a program that knows its address could send.
// - BusAttack: what a program with a valid key can do to the others, and how much longer they wait.
// - NATSTestSupport: servers and clusters of NATS.
// - BusChecker, BusSoak: processes that are killed and stopped under load, and a check of what they have published.
// - SegueTestSupport (a product, above): an app in the process of the test, or a stack of processes.
// - CommandLineTestSupport: `segue` as a user runs it.
// - PageTestSupport: a browser with the page, as far as HTTP shows it.
// - GatewayTestSupport: a gateway in the process of the test, with the devices and the inspector.
// - DeviceTestSupport, SpotifyTestSupport: screens and messages of the focus player; a simulated Spotify.
let testModules: [Target] = [
    testModule(
        "TestSupport", ["Consuming", "Contracts", "EventBus", "Support", lifecycle, logging, subprocess, systemPackage]),
    testModule("SampleFlows", ["FlowFiles", "FlowReview", "Navigation", "Support"]),
    testModule("HostileValues", ["Contracts", "EventBus", "Support"]),
    .testTarget(
        name: "BusConformance", dependencies: ["EventBus", "Support", "TestSupport"], path: "Tests/BusConformance",
        swiftSettings: settings),
    testModule("BusFuzz", ["Broker", "BusFormat", "BusProtocol", "EventBus", "TestSupport", grdb, logging]),
    testModule("BusStranger", ["BusFormat", "BusProtocol", "EventBus", "ZeroMQ"]),
    testModule(
        "BusAttack",
        [
            "Broker", "BusFormat", "BusKeys", "BusProtocol", "Contracts", "EventBus", "Support", "TestSupport",
            "ZeroMQ", "ZeroMQEventBus", logging,
        ]),
    testModule("NATSTestSupport", ["Compose", "NATS", "Sodium", "Support", "TestSupport", subprocess, systemPackage]),
    testModule("BusChecker", ["Navigation"]),
    testModule(
        "BusSoak",
        [
            "BusChecker", "Consuming", "Contracts", "EventBus", "FlowFiles", "NATS", "NATSLayout", "NATSTestSupport",
            "Navigation", "Support", "SystemSupport", "TestSupport", "Transports", logging, subprocess, systemPackage,
        ]),
    testModule("CommandLineTestSupport", ["Compose", "EventBus", "TestSupport", "Transports", subprocess]),
    testModule("PageTestSupport", ["HTTPClient", "SignIn", "Support", "TestSupport", httpTypes]),
    testModule(
        "GatewayTestSupport",
        [
            "EventBus", "HTTPClient", "PageTestSupport", "SignIn", "TestSupport", "WebDevice", "WebInspector",
            "WebPage",
        ]),
    testModule(
        "DeviceTestSupport", ["Contracts", "Device", "EventBus", "Navigation", "Presentation", "Support", "Vocabulary"]),
    testModule(
        "SpotifyTestSupport",
        [
            "Authorization", "HTTPClient", "HTTPOperations", "SpotifyAPI", "SpotifySimulator", "TestSupport", httpTypes,
            logging,
        ]),
    testExecutable("bus-fixture", in: "BusFixture", ["BusSoak", "EventBus", argumentParser]),
    // Kills and stops processes of a bus under load: `make soak`.
    testExecutable("bus-soak", in: "BusSoakCommand", ["BusSoak", argumentParser]),
    // Sends many invalid requests to the broker: `make fuzz`.
    testExecutable("bus-fuzz", in: "BusFuzzCommand", ["BusFuzz", "TestSupport"]),
    // Measures a bus under attacks: `make attacks`.
    testExecutable("bus-attack", in: "BusAttackCommand", ["BusAttack", argumentParser]),
    testExecutable("compose-fixture", in: "ComposeFixture", ["Compose", logging]),
    // The program in docs/services.md.
    testExecutable("greeter", in: "Greeter", ["Consuming", "Contracts", "EventBus", "ServiceRuntime"]),
    testExecutable("http-fixture", in: "HTTPFixture", ["HTTPClient", httpTypes]),
    // Runs hot paths, whose instructions `scripts/count-instructions` counts.
    testExecutable(
        "instruction-counts", in: "InstructionCounts",
        [
            "Broker", "BusAccess", "BusFormat", "BusKeys", "BusProtocol", "Consuming", "Contracts", "EventBus",
            "FlowReview", "Navigation", "SampleFlows", "Support", "TestSupport", logging,
        ],
        excluding: ["counts.txt"]),
]

// The dependencies of a kind of test. A target need not use all of its kind: each file says what it imports.
let files: [Target.Dependency] = ["Support", "SystemSupport", "TestSupport", logging, subprocess, systemPackage]
let flows: [Target.Dependency] = files + ["FlowFiles", "FlowReview", "HostileValues", "Navigation", "SampleFlows"]
let messages: [Target.Dependency] = flows + ["Consuming", "Contracts", "EventBus", lifecycle]
let zeroMQ: [Target.Dependency] =
    messages + [
        "Broker", "BusAccess", "BusAttack", "BusConformance", "BusFormat", "BusFuzz", "BusKeys", "BusProtocol",
        "BusStranger", "ZeroMQ", grdb,
    ]
let nats: [Target.Dependency] =
    messages + ["BusConformance", "BusFormat", "Compose", "NATS", "NATSLayout", "NATSTestSupport", "Sodium"]
let apps: [Target.Dependency] =
    messages + [
        "Coordinator", "ErrorNotification", "SegueTestSupport", "ServiceRuntime", "Transports",
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
    ]
let stacks: [Target.Dependency] =
    apps + [
        "AppContract", "BusFormat", "BusProtocol", "BusStranger", "CommandLineTestSupport", "Compose", "Monitor",
        "BusAccess", "NATSPermissions", "broker", "error-notifier", "navigation-coordinator", "segue", "segue-bench",
        argumentParser,
        grdb,
    ]
let faults: [Target.Dependency] =
    stacks + [
        "BusChecker", "BusSoak", "NATS", "NATSLayout", "NATSTestSupport", "ZeroMQ", "ZeroMQEventBus", "bus-fixture",
    ]
let screens: [Target.Dependency] = apps + ["Device", "DeviceTestSupport", "Presentation", "Vocabulary"]
let pages: [Target.Dependency] =
    screens + [
        "GatewayTestSupport", "HTTPClient", "HTTPOperations", "Monitor", "PageTestSupport", "SignIn", "Sodium",
        "WebPage",
        "broker", "navigation-coordinator", "segue", "web-gateway", httpTypes, hummingbird, nioCore,
    ]
let spotify: [Target.Dependency] =
    messages + [
        "Authorization", "HTTPClient", "HTTPOperations", "Music", "Repositories", "SpotifyTestSupport", "TokenVault",
        "Vocabulary", grdb, httpTypes, hummingbird, nioCore,
    ]

let tests: [Target] = [
    // The reader of compose files reads what an escape has written.
    tests(of: "Support", files + ["Compose", "HostileValues"]),
    tests(of: "SystemSupport", files),
    tests(of: "Sodium"),
    tests(of: "HTTPClient", files + ["http-fixture", httpTypes]),
    tests(of: "Navigation", flows),
    tests(of: "YAMLText", [yams]),
    tests(of: "FlowFiles", flows),
    tests(of: "FlowReview", flows),
    tests(of: "FlowExploration", flows),
    tests(of: "Projects", files),
    tests(of: "Contracts", messages),
    tests(of: "AppContract", messages),

    tests(of: "EventBus", messages + ["BusConformance"]),
    tests(of: "BusKeys", messages + ["Sodium"]),
    tests(of: "BusAccess", messages + ["AppContract", "BusKeys"]),
    tests(of: "BusProtocol", zeroMQ),
    tests(of: "Broker", zeroMQ),
    tests(of: "ZeroMQEventBus", zeroMQ),
    tests(of: "NATSLayout", messages + ["BusFormat"]),
    tests(of: "NATS", nats),
    tests(of: "NATSEventBus", nats + ["CommandLineTestSupport", "Steward", "segue"]),
    tests(of: "Steward", nats + ["broker"]),
    tests(of: "BusChecker", flows),
    tests(of: "BusSoak", faults),
    suite("BusFaultTests", faults + ["BusAttack", "BusKeys"]),
    // Stops, kills and separates real servers, and damages their disks.
    suite("NATSFaultTests", faults),

    tests(of: "Consuming", apps),
    tests(of: "ServiceRuntime", apps),
    tests(of: "ErrorNotification", apps),
    tests(of: "Coordinator", apps),
    tests(of: "Routing", apps),
    tests(of: "Onboarding", apps),
    tests(of: "Stations", apps + ["Routing"]),
    tests(of: "ThreeScreens", apps),
    // The program in docs/deploying.md.
    suite("ShapesPageTests", apps),
    // The settings are those of an app's package: it has no upcoming features.
    .testTarget(
        name: "ReadmeTests",
        dependencies: ["Consuming", "Contracts", "EventBus", "Navigation", "SegueTestSupport"],
        swiftSettings: [.treatAllWarnings(as: .error)]),
    tests(of: "Monitor", apps + ["AppContract"]),
    tests(of: "Device", screens),
    tests(of: "Opening", files),
    tests(of: "TerminalDevice", screens),
    tests(of: "SignIn", files + ["Sodium"]),
    tests(of: "WebPage", pages),
    tests(of: "WebDevice", pages),
    tests(of: "WebInspector", pages),
    tests(of: "Compose", files + ["compose-fixture"]),
    tests(of: "FlowDrawing", flows),
    tests(of: "Scaffold", flows),
    tests(of: "SegueTestSupport", apps + ["broker", "greeter"]),
    suite("GreeterTests", stacks + ["greeter"]),
    tests(of: "Benchmarks", stacks),
    tests(of: "SegueCommands", stacks + ["BusKeys", "SignIn", "Sodium"]),
    suite("PythonClientTests", stacks),
    .testTarget(
        name: "IntegrationTests",
        dependencies: distinct(
            stacks + [
                "Brewing", "HTTPClient", "InProcess", "Onboarding", "PageTestSupport", "Routing", "SignIn", "Stations",
                "ThreeScreens", "Vocabulary", "focus-player", httpTypes,
            ]),
        exclude: ["Page/Scripts"], swiftSettings: settings),

    tests(of: "Authorization", spotify),
    tests(of: "Music", spotify),
    tests(of: "SpotifyAPI", spotify),
    tests(of: "TokenVault", spotify),
    tests(of: "Repositories", spotify),
    tests(of: "ConsentCallback", spotify),
    tests(of: "SpotifySimulator", spotify),
    tests(of: "Services", spotify + ["ConsentCallback", "DeviceTestSupport", "ServiceRuntime", "SpotifyAPI"]),
    tests(of: "Presentation", screens),
]

let package = Package(
    name: "segue",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Support", targets: ["Support"]),
        .library(name: "EventBus", targets: ["EventBus"]),
        .library(name: "ZeroMQEventBus", targets: ["ZeroMQEventBus"]),
        .library(name: "NATSEventBus", targets: ["NATSEventBus"]),
        .library(name: "Navigation", targets: ["Navigation"]),
        .library(name: "FlowFiles", targets: ["FlowFiles"]),
        .library(name: "Contracts", targets: ["Contracts"]),
        .library(name: "Consuming", targets: ["Consuming"]),
        .library(name: "Device", targets: ["Device"]),
        .library(name: "Coordinator", targets: ["Coordinator"]),
        .library(name: "ErrorNotification", targets: ["ErrorNotification"]),
        .library(name: "Routing", targets: ["Routing"]),
        .library(name: "ServiceRuntime", targets: ["ServiceRuntime"]),
        .library(name: "SegueTestSupport", targets: ["SegueTestSupport"]),
        // The programs that the stack of any app needs, and the tools for it.
        .executable(name: "broker", targets: ["broker"]),
        .executable(name: "device", targets: ["device"]),
        .executable(name: "error-notifier", targets: ["error-notifier"]),
        .executable(name: "navigation-coordinator", targets: ["navigation-coordinator"]),
        .executable(name: "segue", targets: ["segue"]),
        .executable(name: "segue-bench", targets: ["segue-bench"]),
        .executable(name: "web-gateway", targets: ["web-gateway"]),
    ],
    traits: [
        .default(enabledTraits: ["NATS"]),
        .trait(name: "NATS", description: "The bus on NATS. Without it, only Segue's own broker can be used."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // One trait: SwiftPM passes several traits in random order, and then often compiles the package again.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: support + systemSupport + bus + navigation + contracts + runtime + devices + tools + focusPlayer + examples
        + executables + testModules + tests
)

// MARK: Targets and their folders

func module(
    _ name: String, in folder: String? = nil, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil
) -> Target {
    let path = (["Sources", folder, name] as [String?]).compactMap(\.self).joined(separator: "/")
    return .target(
        name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings)
}

/// A module of the bus on NATS, which an app can leave out.
func ifNATS(_ name: String) -> Target.Dependency {
    .target(name: name, condition: .when(traits: ["NATS"]))
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Executables/\(name)", swiftSettings: settings)
}

/// The tests of a module.
func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    suite("\(name)Tests", [.byName(name: name)] + dependencies)
}

/// Tests that belong to no module.
func suite(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: distinct(dependencies), path: "Tests/\(name)", swiftSettings: settings)
}

/// The dependencies without repetitions: some are in several groups, or are the module that is tested.
func distinct(_ dependencies: [Target.Dependency]) -> [Target.Dependency] {
    var names: Set<String> = []
    return dependencies.filter { names.insert("\($0)").inserted }
}

/// A module that several test targets use.
func testModule(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

/// A program that tests, or `make soak`, run as a separate process.
func testExecutable(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], excluding files: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Tests/\(folder)", exclude: files, swiftSettings: settings)
}
