internal import Support

/// A new app: a package with messages, a service, the flows of two platforms, a compose file and tests.
///
/// The app sells items: a story that its users replace with their own.
package struct AppTemplate {
    /// The name of the package, of the flows and of the project, such as `tea-time`.
    private let name: String
    private let segue: SegueSource

    /// The packages on which an app depends, and the word that is not a string in YAML.
    private static let names: Set = ["segue", "swift-argument-parser", "null"]
    /// The modules of other packages that an app imports, also indirectly.
    private static let modules: Set = [
        "Dispatch", "Foundation", "Glibc", "Logging", "Swift", "Synchronization", "Testing", "XCTest",
    ]

    /// - Throws: ``ScaffoldError`` if the name is not allowed for a package.
    package init(_ name: String, segue: SegueSource) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][a-z0-9]*(-[a-z0-9]+)*/#.byScalar) != nil else {
            throw ScaffoldError(
                .argument, "'\(name)' is not a name for an app", recovery: "write it like coffee or tea-time")
        }
        (self.name, self.segue) = (name, segue)
        let isTaken =
            Self.names.contains(name) || Self.modules.contains(module) || SegueNames.modules.contains(module)
            || SegueNames.services.contains(service) || MessageName.keywords.contains(module)
        guard !isTaken else {
            throw ScaffoldError(
                .argument, "'\(name)' has a meaning in Segue, Swift or YAML",
                recovery: "choose another name for the app")
        }
    }

    /// The files of the package.
    package func scaffold() throws(ScaffoldError) -> Scaffold {
        var scaffold = Scaffold()
        scaffold.make(".gitignore", ".build/\n")
        scaffold.make("Package.swift", manifest)
        scaffold.make("README.md", readme)
        scaffold.make("compose.yaml", composeFile)
        scaffold.make("flows/ios.yaml", phoneFlow)
        scaffold.make("flows/mac.yaml", desktopFlow)
        scaffold.make("Sources/\(module)/Vocabulary/Document+Items.swift", Self.items)
        for (words, summary) in Self.messages {
            let shape = try MessageShape(words)
            scaffold.make(
                "Sources/\(module)/Vocabulary/\(shape.message.fileName)",
                try MessageTemplate(shape, summary: summary).source(hasInternalImports: false))
        }
        scaffold.make("Sources/\(module)/\(serviceType).swift", serviceSource)
        scaffold.make(
            "Sources/\(service)/\(serviceType)Command.swift",
            ServiceTemplate.executable(service, type: serviceType, of: module, abstract: "Sells items."))
        scaffold.make("Tests/\(module)Tests/FlowTests.swift", flowTests)
        scaffold.make("Tests/\(module)Tests/PackageFile.swift", Self.packageFile)
        scaffold.make("Tests/\(module)Tests/StoryTests.swift", storyTests)
        return scaffold
    }

    /// The name of the module, such as `TeaTime`.
    var module: String { ServiceTemplate.type(name) }
    /// The name of the service and of its executable, such as `tea-time-service`.
    var service: String { "\(name)-service" }
    var serviceType: String { "\(module)Service" }
}

// MARK: - The package

extension AppTemplate {
    private var manifest: String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        /// A product of Segue: a library or an executable.
        func segue(_ product: String) -> Target.Dependency { .product(name: product, package: "segue") }

        let package = Package(
            name: "\(name)",
            platforms: [.macOS(.v15)],
            dependencies: [
                \(segue.dependency)
            ],
            targets: [
                .target(
                    name: "\(module)",
                    dependencies: [segue("Consuming"), segue("Contracts"), segue("EventBus")]),
                .executableTarget(
                    name: "\(service)", dependencies: ["\(module)", segue("ServiceRuntime")]),
                .testTarget(
                    name: "\(module)Tests",
                    dependencies: [
                        "\(module)", "\(service)", segue("Contracts"), segue("EventBus"),
                        segue("FlowFiles"), segue("Navigation"), segue("SegueTestSupport"),
                        // The executables that the stack runs, and those that a person uses.
                        segue("broker"), segue("navigation-coordinator"), segue("error-notifier"),
                        segue("web-gateway"), segue("device"), segue("segue"),
                    ]),
            ]
        )

        """
    }

    private var composeFile: String {
        """
        name: \(name)
        x-ports: [web]
        # The programs that users start themselves.
        x-clients: [device --flow flows/ios.yaml, device --flow flows/mac.yaml]

        x-service: &service
          restart: on-failure
          healthcheck: &announces-itself { test: [NOTIFY] }
          depends_on:
            broker: { condition: service_healthy }

        services:
          broker: { command: broker, restart: on-failure, healthcheck: *announces-itself }
          ios-coordinator:
            <<: *service
            command: navigation-coordinator --flow flows/ios.yaml
            # 'segue up -d' restarts the service if this file has changed.
            develop: { watch: [{ path: flows/ios.yaml, action: restart }] }
          mac-coordinator:
            <<: *service
            command: navigation-coordinator --flow flows/mac.yaml
            develop: { watch: [{ path: flows/mac.yaml, action: restart }] }
          error-notifier: { <<: *service, command: error-notifier }
          \(service): { <<: *service, command: \(service) }
          # The page in a browser; 'segue open' opens it.
          web: { <<: *service, command: web-gateway }

        """
    }

    private var readme: String {
        """
        # \(module)

        An app on Segue: a user selects an item of a list and buys it, on a phone and on a desktop. Some seconds later \
        the service has the item again.

        | File | Contents |
        |---|---|
        | [Vocabulary](Sources/\(module)/Vocabulary) | the messages, one in each file |
        | [\(serviceType).swift](Sources/\(module)/\(serviceType).swift) | the service; its process is in \
        [\(service)](Sources/\(service)) |
        | [flows](flows) | the rules that lead from screen to screen: `ios.yaml` pushes an item, `mac.yaml` opens a \
        window |
        | [compose.yaml](compose.yaml) | the processes |
        | [Tests](Tests/\(module)Tests) | the flows without processes, and a story with all processes |

        Build the app and run its tests:

        ```sh
        swift build --build-tests && swift test --skip-build
        ```

        Start the processes, buy a lamp on a phone, and stop the processes. Without the pipe, `device` reads your own
        choices:

        ```sh
        export PATH="$(swift build --show-bin-path):$PATH"
        segue up -d --wait
        printf '%s\\n' 'ItemSelected itemID=lamp' 'PurchaseRequested itemID=lamp' @list |
            device --flow flows/ios.yaml
        segue monitor --since beginning --type event.ItemBought --count 1
        segue get Items
        segue monitor --since beginning --type command.RestockDue --count 1
        segue down
        ```

        Before `segue down`, `segue open` shows both platforms on a page in a browser.

        Check the flows, also against the messages that the services receive and send:

        ```sh
        segue flow check --strict
        ```

        Create a message, a screen and a service, each with a test. The commands write new files, and print the lines to add \
        to existing ones:

        ```console
        segue new message event.ItemReturned itemID:String
        segue new screen receipt --on command.ReceiptWanted itemID:String --from item
        segue new service courier --on event.ItemBought itemID:String --sends event.ItemDelivered
        ```

        """
    }
}

// MARK: - The flows

extension AppTemplate {
    private var phoneFlow: String {
        """
        # The screens of a phone: an item covers the list, and after its purchase the list is shown again.
        name: \(name)
        version: 1
        platform: ios
        start: list

        \(Self.screens)

        transitions:
          - on: command.ItemSelected
            when: { top: list }
            do: [{ push: { screen: item, arguments: { itemID: "${data.itemID}" } } }]
          - on: event.ItemBought
            when: { top: { screen: item, arguments: { itemID: "${data.itemID}" } } }
            do: [pop]

        """
    }

    private var desktopFlow: String {
        """
        # The screens of a desktop: each item has a window beside the list, which the user closes.
        name: \(name)
        version: 1
        platform: mac
        start: list
        # Messages of services that no rule handles.
        ignores: [event.ItemBought]

        \(Self.screens)

        transitions:
          - on: command.ItemSelected
            unless: { presented: { screen: item, arguments: { itemID: "${data.itemID}" } } }
            do: [{ present: { screen: item, style: window, arguments: { itemID: "${data.itemID}" } } }]

        """
    }

    private static let screens = """
        # The fields of the commands that no service receives.
        commands:
          command.ItemSelected: { itemID: string }

        screens:
          list:
            title: Items
            sends: [command.ItemSelected]
          item:
            title: Item
            sends: [command.PurchaseRequested]
        """
}
