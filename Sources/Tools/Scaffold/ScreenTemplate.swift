internal import EventBus
internal import FlowFiles
internal import Navigation

/// A screen: its entry in a flow, the command that leads to it, and a test of that.
package struct ScreenTemplate {
    private let name: String
    /// What leads to it.
    private let command: MessageName
    /// Where from; `nil` for the flow's start.
    private let origin: String?

    /// - Throws: ``ScaffoldError`` when the name is none for a screen.
    package init(_ name: String, on command: MessageName, from origin: String? = nil) throws(ScaffoldError) {
        guard name.wholeMatch(of: #/[a-z][A-Za-z0-9]*/#) != nil else {
            throw ScaffoldError("'\(name)' is not a screen's name", recovery: "write it like cup or playlistSelection")
        }
        guard command.type.kind == .command else {
            throw ScaffoldError(
                "\(command.type) is not a command", recovery: "write for example --on command.CupWanted")
        }
        (self.name, self.command, self.origin) = (name, command, origin)
    }

    /// - Parameters:
    ///   - path: of the flow, from the package's folder.
    /// - Throws: ``ScaffoldError``; `FlowError` when the flow, or what becomes of it, is not a good one.
    package func scaffold(in package: PackageLayout, flow path: String) throws -> Scaffold {
        guard let text = package.text(of: path) else {
            throw ScaffoldError("there is no flow \(path)", recovery: "name one with --flow")
        }
        let flow = try Flow(yaml: text, file: path)
        let origin = origin ?? flow.start
        guard flow.screens[origin] != nil else {
            throw ScaffoldError("\(path) has no screen '\(origin)'", recovery: "name another one with --from")
        }
        guard flow.screens[name] == nil else {
            throw ScaffoldError("\(path) has a screen '\(name)' already", recovery: "choose another name")
        }
        var scaffold = Scaffold()
        if !command.isOfPlatform, try package.page(declaring: command) == nil {
            try MessageTemplate(command).add(to: &scaffold, in: package)
        }
        let changed = try self.changed(text, path, from: origin)
        scaffold.change(path, to: changed)
        let sends = try Flow(yaml: changed, file: path).screens[origin]?.sends ?? []
        if !sends.contains(command.type.description) {
            scaffold.note("add \(command.type) to what '\(origin)' sends in \(path)")
        }
        if package.hasTests {
            scaffold.make("\(package.tests)/\(screenType)ScreenTests.swift", test(of: path, from: origin))
        }
        return scaffold
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
                "\(path) has no list of screens and transitions of its own",
                recovery: "write 'screens:' and 'transitions:' on lines of their own")
        }
        _ = try Flow(yaml: changed, file: path)
        return changed
    }

    private func test(of path: String, from origin: String) -> String {
        """
        import FlowFiles
        import Foundation
        import Navigation
        import Testing

        @Suite("The screen '\(name)'")
        struct \(screenType)ScreenTests {
            @Test("lies on '\(origin)' after \(command.type)")
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
