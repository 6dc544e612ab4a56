internal import EventBus
internal import Foundation
internal import Support

/// A new service: functions that handle messages, an executable, a test that starts the executable, and the lines for
/// Package.swift and the compose file.
package struct ServiceTemplate {
    /// The name of the executable and of the service, such as `roaster` or `coffee-roaster`.
    private let name: String
    private let receives: MessageShape
    private let sends: MessageShape

    /// - Throws: ``ScaffoldError`` if the name is not allowed for an executable, or a message has a wrong kind.
    package init(_ name: String, receives: MessageShape, sends: MessageShape) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][a-z0-9]*(-[a-z0-9]+)*/#.byScalar) != nil else {
            throw ScaffoldError(
                .argument, "'\(name)' is not a name for a service", recovery: "write it like roaster or coffee-roaster")
        }
        let (received, sent) = (receives.message.type, sends.message.type)
        guard received.kind == .command || received.kind == .event, sent.kind == .event else {
            throw ScaffoldError(
                .argument, "--on \(received) must be a command or event, --sends \(sent) an event",
                recovery: "write for example --on command.CoffeeOrdered --sends event.CoffeeServed")
        }
        (self.name, self.receives, self.sends) = (name, receives, sends)
    }

    /// The files of the new service.
    /// - Parameter compose: the path of the compose file, relative to the package's folder; nil if there is none.
    /// - Throws: ``ScaffoldError`` if a target has a folder with the name of the service.
    package func scaffold(in package: PackageLayout, compose: String?) throws(ScaffoldError) -> Scaffold {
        guard !package.exists("Sources/\(name)") else {
            throw ScaffoldError(.package, "Sources/\(name) exists already", recovery: "choose another name")
        }
        var scaffold = Scaffold()
        scaffold.make("Sources/\(package.module)/\(type).swift", source(package))
        scaffold.make(
            "Sources/\(name)/\(type)Command.swift",
            Self.executable(
                name, type: type, of: package.module, abstract: "Describe here what the service does."))
        scaffold.makeTest("\(type)Tests", test(of: package.module), in: package)
        for shape in receives == sends ? [sends] : [receives, sends] { scaffold.stepToDeclare(shape, in: package) }
        scaffold.step("Add to Package.swift, in 'targets'", target(package.module))
        scaffold.step(
            "Add to Package.swift, in 'dependencies' of the test target, what it does not have yet",
            """
                            "\(name)", .product(name: "Contracts", package: "segue"),
                            .product(name: "EventBus", package: "segue"),
                            .product(name: "SegueTestSupport", package: "segue"),
                            .product(name: "broker", package: "segue"),
            """)
        scaffold.step(
            "Add to \(compose ?? "your compose file"), in 'services'",
            """
              \(name):
                command: \(name)
                restart: on-failure
                healthcheck: { test: [NOTIFY] }
                depends_on:
                  broker: { condition: service_healthy }
            """)
        return scaffold
    }

    private var type: String { Self.type(name) }

    /// The name in Swift, such as `CoffeeRoaster` for `coffee-roaster`.
    static func type(_ name: String) -> String { name.split(scalar: "-").map(\.capitalized).joined() }

    private func target(_ module: String) -> String {
        """
                .executableTarget(
                    name: "\(name)",
                    dependencies: [
                        "\(module)", .product(name: "ServiceRuntime", package: "segue"),
                    ]),
        """
    }

    private func source(_ package: PackageLayout) -> String {
        let hidden = ["Contracts", "EventBus"] + (sends.needsFoundation ? ["Foundation"] : [])
        let (receives, sends) = (receives.message.swift, sends.message.swift)
        return """
            \(Imports.spelled(["Consuming"], hidden, hasInternalImports: package.hasInternalImports))

            /// Describe here what the service does. A service handles messages and publishes others; it
            /// does not know any screens.
            package enum \(type) {
                package static let handlers = Handlers("\(name)")
                    .on(\(receives).self, sends: \(sends).self) { message, _ in
                        [try answer(to: message)]
                    }

                /// - Throws: `ApplicationError`, which is published as the answer; the error notifier shows it.
                static func answer(to message: \(receives)) throws -> \(sends) {
                    \(self.sends.expression(indent: 8))
                }
            }

            """
    }

    /// The source of a service's executable.
    /// - Parameters:
    ///   - type: the type that handles the messages, in `module`.
    static func executable(_ name: String, type: String, of module: String, abstract: String) -> String {
        """
        \(Imports.plain([module, "ServiceRuntime"]))

        @main
        struct \(type)Command: ServiceCommand {
            static let service = ServiceProgram(\(type).handlers)
            static let abstract = "\(abstract)"
        }

        """
    }

    private func test(of module: String) -> String {
        let foundation = receives.needsFoundation ? ["Foundation"] : []
        let (received, sent) = (receives.message, sends.message)
        return """
            \(Imports.plain([module, "Contracts", "EventBus", "SegueTestSupport", "Testing"] + foundation))

            @Suite("\(name)")
            struct \(type)Tests {
                @Test("The service answers \(received.type) with \(sent.type) or an error, as a real process")
                func answers() async throws {
                    try await TestStack.with([.broker, TestService("\(name)", after: ["broker"])]) { stack in
                        \(receives.expression(from: "let message = ", indent: 12))
                        let sent = try await stack.bus.\(received.type.kind == .command ? "send" : "publish")(message)
                        // A rule of the service may refuse this message. Then the answer is an error.
                        let answer = try await stack.answer(to: sent)
                        #expect([\(sent.swift).type, ApplicationError.type].contains(answer.type))
                    }
                }
            }

            """
    }
}
