internal import EventBus
internal import FlowFiles
internal import Navigation
internal import Support

/// A new screen: a test of the rule that leads to it, and the lines for one or more flows.
package struct ScreenTemplate {
    private let name: String
    /// The command that leads to the screen, with its fields.
    private let command: MessageShape
    /// The screen that sends the command. Nil for the flow's start screen.
    private let origin: String?

    /// - Throws: ``ScaffoldError`` if the name is not allowed, or the message is not a command.
    package init(_ name: String, on command: MessageShape, from origin: String? = nil) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][A-Za-z0-9]*/#.byScalar) != nil else {
            throw ScaffoldError(
                .argument, "'\(name)' is not a name for a screen", recovery: "write it like cup or playlistSelection")
        }
        guard command.message.type.kind == .command else {
            throw ScaffoldError(
                .argument, "\(command.message.type) is not a command",
                recovery: "name a command, such as --on command.CupWanted; a rule for an event is written in the flow: "
                    + "- { on: event.CupFilled, do: [{ push: cup }] }")
        }
        (self.name, self.command, self.origin) = (name, command, origin)
    }

    /// - Parameter flows: the paths of the flows, relative to the package's folder.
    /// - Throws: ``ScaffoldError``; `FlowError` if a flow is invalid.
    package func scaffold(in package: PackageLayout, flows: [String]) throws -> Scaffold {
        var scaffold = Scaffold()
        scaffold.stepToDeclare(command, in: package)
        for path in flows {
            let flow = try flow(path, in: package)
            let origin = origin ?? flow.start
            guard let sends = flow.screens[origin]?.sends else {
                throw ScaffoldError(
                    .package, "\(path) has no screen '\(origin)'",
                    recovery: "name another screen with --from, or another flow with --flow")
            }
            if isNewTo(flow, in: package) {
                let isFirst = flow.commands.isEmpty
                scaffold.step(
                    "Unless a service receives \(command.message.type), add to \(path)\(isFirst ? "" : ", in 'commands'")",
                    "\(isFirst ? "commands:\n" : "")  \(command.flowEntry)")
            }
            addSteps(to: &scaffold, flow: path, from: origin, sends)
            // Another platform's flow may have a screen of this name, with its own test.
            let usual = "\(screenType)ScreenTests"
            let suite =
                scaffold.hasTest(usual, in: package) ? "\(screenType)Screen\(flow.platform.swiftName)Tests" : usual
            scaffold.makeTest(suite, test(suite, of: path, from: origin), in: package)
        }
        return scaffold
    }

    /// True if the flow may have to declare the fields of the command. The fields of a message that exists already are
    /// known only if they are given.
    private func isNewTo(_ flow: Flow, in package: PackageLayout) -> Bool {
        guard !command.message.isOfPlatform, flow.commands[command.message.type.description] == nil else {
            return false
        }
        return !command.fields.isEmpty || !package.exists(package.path(of: command.message))
    }

    private func flow(_ path: String, in package: PackageLayout) throws -> Flow {
        guard let text = package.text(of: path) else {
            throw ScaffoldError(.file, "cannot read the flow \(path)", recovery: "name a flow with --flow")
        }
        let flow = try Flow(yaml: text, file: path)
        guard flow.screens[name] == nil else {
            throw ScaffoldError(.package, "\(path) has a screen '\(name)' already", recovery: "choose another name")
        }
        return flow
    }

    /// The fields that identify what the screen shows: the strings that each command has.
    private var arguments: [Field] { command.fields.filter { $0.type == "String" } }

    private var screenType: String { name.prefix(1).uppercased() + name.dropFirst() }

    private func addSteps(to scaffold: inout Scaffold, flow path: String, from origin: String, _ sends: [String]) {
        let command = command.message.type.description
        if !sends.contains(command) {
            scaffold.step(
                "In \(path), replace 'sends' of the screen '\(origin)' by",
                "    sends: [\((sends + [command]).joined(separator: ", "))]")
        }
        scaffold.step("Add to \(path), in 'screens'", "  \(name):\n    title: \(screenType)")
        let values = arguments.map { "\($0.name): \"${data.\($0.name)}\"" }.joined(separator: ", ")
        let screen = values.isEmpty ? name : "{ screen: \(name), arguments: { \(values) } }"
        scaffold.step(
            "Add to \(path), in 'transitions'",
            """
              - on: \(command)
                when: { top: \(origin) }
                do: [{ push: \(screen) }]
            """)
    }

    private func test(_ suite: String, of path: String, from origin: String) -> String {
        let values = arguments.map { "\"\($0.name)\": \($0.sample)" }.joined(separator: ", ")
        let data = values.isEmpty ? "[:]" : "[\(values)]"
        return """
            import FlowFiles
            import Foundation
            import Navigation
            import Testing

            @Suite("The screen '\(name)' of \(path)")
            struct \(suite) {
                @Test("The screen is shown on top of '\(origin)' after \(command.message.type)")
                func opens() throws {
                    let file = URL(filePath: #filePath).appending(path: "../../../\(path)").standardizedFileURL.path
                    let flow = try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file)
                    var snapshot = Machine(flow: flow).snapshot
                    snapshot.state.root.instance.screen = "\(origin)"
                    var machine = Restoration(snapshot, flow: flow).machine
                    let input = Machine.Input(id: "1", type: "\(command.message.type)", data: \(data))
                    _ = machine.handle(input)
                    #expect(machine.state.top.screen == "\(name)")
                }
            }

            """
    }
}

extension String {
    /// The letters and digits, each word with a capital letter, for a part of a Swift name.
    fileprivate var swiftName: String {
        split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
    }
}
