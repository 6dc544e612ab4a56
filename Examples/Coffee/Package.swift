// swift-tools-version: 6.2
import PackageDescription

/// A product of Segue: a library or an executable.
func segue(_ product: String) -> Target.Dependency { .product(name: product, package: "segue") }

let package = Package(
    name: "coffee",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In your own package, write the URL of Segue: .package(url: "https://…/segue", from: "0.1.0")
        .package(name: "segue", path: "../..")
    ],
    targets: [
        .target(name: "Coffee", dependencies: [segue("Consuming"), segue("Contracts"), segue("EventBus")]),
        .executableTarget(
            name: "barista", dependencies: ["Coffee", segue("ServiceRuntime")]),
        .testTarget(
            name: "CoffeeTests",
            dependencies: [
                "Coffee", "barista", segue("Contracts"), segue("EventBus"), segue("Navigation"),
                segue("SegueTestSupport"),
                // The executables that the stack runs, and those that a person uses.
                segue("broker"), segue("navigation-coordinator"), segue("error-notifier"), segue("segue"),
                segue("device"), segue("web-gateway"),
            ]),
    ]
)
