internal import EventBus
internal import FlowFiles
internal import Navigation
internal import Support

/// A new screen: its entry in one or more flows, a rule with the command that leads to it, and a test of each rule.
package struct ScreenTemplate {
    private let name: String
    /// The command that leads to the screen.
    private let command: MessageName
    /// The screen that sends the command. Nil for the flow's start screen.
    private let origin: String?

    /// - Throws: ``ScaffoldError`` if the name is not allowed, or the message is not a command.
    package init(_ name: String, on command: MessageName, from origin: String? = nil) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][A-Za-z0-9]*/#.byScalar) != nil else {
            throw ScaffoldError(
                .argument, "'\(name)' is not a name for a screen", recovery: "write it like cup or playlistSelection")
        }
        guard command.type.kind == .command else {
            throw ScaffoldError(
                .argument, "\(command.type) is not a command",
                recovery: "name a command, such as --on command.CupWanted")
        }
        (self.name, self.command, self.origin) = (name, command, origin)
    }

    /// - Parameters:
    ///   - flows: the paths of the flows, relative to the package's folder.
    /// - Throws: ``ScaffoldError``; `FlowError` if a flow is invalid before or after the change.
    package func scaffold(in package: PackageLayout, flows: [String]) throws -> Scaffold {
        var scaffold = Scaffold()
        if !command.isOfPlatform, try package.page(declaring: command) == nil {
            try MessageTemplate(command).add(to: &scaffold, in: package)
        }
        for path in flows { try addScreen(to: &scaffold, in: package, flow: path) }
        return scaffold
    }

    private func addScreen(to scaffold: inout Scaffold, in package: PackageLayout, flow path: String) throws {
        guard let text = package.text(of: path) else {
            throw ScaffoldError(.file, "cannot read the flow \(path)", recovery: "name a flow with --flow")
        }
        let flow = try Flow(yaml: text, file: path)
        let origin = origin ?? flow.start
        guard flow.screens[origin] != nil else {
            throw ScaffoldError(
                .package, "\(path) has no screen '\(origin)'",
                recovery: "name another screen with --from, or another flow with --flow")
        }
        guard flow.screens[name] == nil else {
            throw ScaffoldError(.package, "\(path) has a screen '\(name)' already", recovery: "choose another name")
        }
        let changed = try self.changed(text, path, from: origin)
        scaffold.change(path, to: changed)
        let sends = try Flow(yaml: changed, file: path).screens[origin]?.sends ?? []
        if !sends.contains(command.type.description) {
            scaffold.note("add \(command.type) to the 'sends' of the screen '\(origin)' in \(path)")
        }
        if package.hasTests {
            // Another platform's flow may have a screen of this name, with its own test.
            let usual = "\(screenType)ScreenTests"
            let file = "\(package.tests)/\(usual).swift"
            let isUsed = package.exists(file) || scaffold.files[file] != nil
            let suite = isUsed ? "\(screenType)Screen\(flow.platform.swiftName)Tests" : usual
            scaffold.make("\(package.tests)/\(suite).swift", test(suite, of: path, from: origin))
        }
    }

    private var screenType: String { name.prefix(1).uppercased() + name.dropFirst() }

    private func changed(_ text: String, _ path: String, from origin: String) throws -> String {
        let rule = """
              - on: \(command.type)
                when: { top: \(origin) }
                do: [{ push: \(name) }]
            """
        let sending = text.adding(command.type.description, toSendsOf: origin)
        let changed = sending.appending("  \(name):\n    title: \(screenType)", toBlock: "screens")?
            .appending(rule, toBlock: "transitions")
        guard let changed else {
            throw ScaffoldError(
                .package, "\(path) does not have both of the blocks 'screens:' and 'transitions:'",
                recovery: "write each of the two keys on a line of its own, without braces")
        }
        _ = try Flow(yaml: changed, file: path)
        return changed
    }

    private func test(_ suite: String, of path: String, from origin: String) -> String {
        """
        import FlowFiles
        import Foundation
        import Navigation
        import Testing

        @Suite("The screen '\(name)' of \(path)")
        struct \(suite) {
            @Test("is shown on top of '\(origin)' after \(command.type)")
            func opens() throws {
                let file = URL(filePath: #filePath).appending(path: "../../../\(path)").standardizedFileURL.path
                let flow = try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file)
                var snapshot = Machine(flow: flow).snapshot
                snapshot.state.root.instance.screen = "\(origin)"
                var machine = Restoration(snapshot, flow: flow).machine
                _ = machine.handle(Machine.Input(id: "1", type: "\(command.type)", data: [:]))
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
