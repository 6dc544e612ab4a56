internal import EventBus
internal import Foundation
internal import Support

/// A new service: functions that handle messages, an executable, an entry in the compose file, and a test that starts
/// the executable.
package struct ServiceTemplate {
    /// The name of the executable and of the service, such as `roaster` or `coffee-roaster`.
    private let name: String
    private let receives: MessageName
    private let sends: MessageName

    /// - Throws: ``ScaffoldError`` if the name is not allowed for an executable, or a message has a wrong kind.
    package init(_ name: String, receives: MessageName, sends: MessageName) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][a-z0-9]*(-[a-z0-9]+)*/#.byScalar) != nil else {
            throw ScaffoldError(
                .argument, "'\(name)' is not a name for a service", recovery: "write it like roaster or coffee-roaster")
        }
        guard receives.type.kind == .command || receives.type.kind == .event, sends.type.kind == .event else {
            throw ScaffoldError(
                .argument, "--on \(receives.type) must be a command or event, --sends \(sends.type) an event",
                recovery: "write for example --on command.CoffeeOrdered --sends event.CoffeeServed")
        }
        (self.name, self.receives, self.sends) = (name, receives, sends)
    }

    /// The files of the new service, and of its messages if the package does not declare them.
    /// - Parameter compose: the path of the compose file, relative to the package's folder; nil if there is none.
    package func scaffold(in package: PackageLayout, compose: String?) throws(ScaffoldError) -> Scaffold {
        guard !package.manifest.contains(scalars: "\"\(name)\"") else {
            throw ScaffoldError(
                .package, "Package.swift contains the name '\(name)' already", recovery: "choose another name")
        }
        var scaffold = Scaffold()
        for message in receives == sends ? [sends] : [receives, sends]
        where try package.page(declaring: message) == nil {
            try MessageTemplate(message).add(to: &scaffold, in: package)
        }
        let source = source(answer: try fields(of: sends, in: package))
        scaffold.make("Sources/\(package.module)/\(type).swift", package.spelled(source))
        scaffold.make(
            "Sources/\(name)/\(type)Command.swift",
            Self.executable(
                name, type: type, of: package.module, abstract: "Describe here what the service does."))
        if package.hasTests {
            let test = test(of: package.module, sending: try fields(of: receives, in: package))
            scaffold.make("\(package.tests)/\(type)Tests.swift", test)
        }
        addTarget(to: &scaffold, package)
        addService(to: &scaffold, package, compose)
        return scaffold
    }

    private var type: String { Self.type(name) }

    /// The name in Swift, such as `CoffeeRoaster` for `coffee-roaster`.
    static func type(_ name: String) -> String { name.split(scalar: "-").map(\.capitalized).joined() }

    /// The fields of a message that the package declares; empty for any other message.
    private func fields(of message: MessageName, in package: PackageLayout) throws(ScaffoldError) -> [Field] {
        try package.page(declaring: message)?.fields(of: message) ?? []
    }

    /// A Swift expression that creates a message, after the code `start`.
    /// - Parameter indent: the indentation of the first line, in spaces.
    private static func sample(
        of message: MessageName, _ fields: [Field], from start: String = "", indent: Int
    ) -> String {
        let arguments = fields.filter { $0.json != nil }.map { "\($0.name): \($0.sample)" }
        return Wrapping.list("\(start)\(message.swift)(", arguments, ")", indent: indent)
    }

    static func imports(_ modules: String...) -> String {
        modules.sorted().map { "import \($0)" }.joined(separator: "\n")
    }

    private func addTarget(to scaffold: inout Scaffold, _ package: PackageLayout) {
        let target = """
                    .executableTarget(
                        name: "\(name)",
                        dependencies: [
                            "\(package.module)", .product(name: "Consuming", package: "segue"),
                            .product(name: "ServiceRuntime", package: "segue"),
                            .product(name: "ArgumentParser", package: "swift-argument-parser"),
                        ]),
            """
        if let manifest = package.manifest.inserting(target, behind: #/\R    targets: \[\R/#.byScalar) {
            scaffold.change("Package.swift", to: manifest)
        } else {
            scaffold.note(
                "add an executable target '\(name)' to Package.swift, with the dependencies \(package.module), "
                    + "Consuming, ServiceRuntime and ArgumentParser")
        }
        for dependency in ["segue", "swift-argument-parser"] where !package.manifest.contains(scalars: dependency) {
            scaffold.note("add the package '\(dependency)' to the dependencies of Package.swift")
        }
    }

    private func addService(to scaffold: inout Scaffold, _ package: PackageLayout, _ compose: String?) {
        let entry = """
              \(name):
                command: \(name)
                restart: on-failure
                healthcheck: { test: [NOTIFY] }
                depends_on:
                  broker: { condition: service_healthy }
            """
        if let compose, let text = package.text(of: compose)?.appending(entry, toBlock: "services") {
            scaffold.change(compose, to: text)
        } else {
            scaffold.note("add '\(name)' to the services of your compose file")
        }
    }

    private func source(answer: [Field]) -> String {
        """
        package import Consuming
        internal import Contracts
        package import EventBus

        /// Describe here what the service does. A service handles messages and publishes others; it
        /// does not know any screens.
        package enum \(type) {
            package static let receives: [any Message.Type] = [\(receives.swift).self]
            package static let sends: [any Message.Type] = [\(sends.swift).self, ApplicationError.self]

            package static func routes(of consumer: MessageConsumer) -> MessageConsumer {
                consumer.on(\(receives.swift).self) { message, _ in [try answer(to: message)] }
            }

            /// - Throws: `ApplicationError`, which is published as the answer; the error notifier shows it.
            static func answer(to message: \(receives.swift)) throws -> \(sends.swift) {
                \(Self.sample(of: sends, answer, indent: 8))
            }
        }

        """
    }

    /// The source of a service's executable.
    /// - Parameters:
    ///   - type: the type that handles the messages, in `module`.
    static func executable(_ name: String, type: String, of module: String, abstract: String) -> String {
        """
        \(imports("ArgumentParser", "Consuming", module, "ServiceRuntime"))

        @main
        struct \(type)Command: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "\(name)", abstract: "\(abstract)")

            @OptionGroup var options: ServiceOptions

            static func main() async { await runProgram() }

            func run() async throws {
                try await ServiceProcess(
                    "\(name)", receives: \(type).receives, sends: \(type).sends
                ).run(options) { process in
                    [\(type).routes(of: MessageConsumer("\(name)", in: process))]
                }
            }
        }

        """
    }

    private func test(of module: String, sending fields: [Field]) -> String {
        """
        \(Self.imports(module, "Contracts", "EventBus", "SegueTestSupport", "Testing"))

        @Suite("\(name)")
        struct \(type)Tests {
            @Test("answers \(receives.type) with \(sends.type) or an error, as a real process")
            func answers() async throws {
                try await TestStack.with([.broker, TestService("\(name)", after: ["broker"])]) { stack in
                    \(Self.sample(of: receives, fields, from: "let message = ", indent: 12))
                    let sent = try await stack.bus.\(receives.type.kind == .command ? "send" : "publish")(message)
                    // A rule of the service may refuse this message. Then the answer is an error.
                    let answer = try await stack.answer(to: sent)
                    #expect([\(sends.swift).type, ApplicationError.type].contains(answer.type))
                }
            }
        }

        """
    }
}
