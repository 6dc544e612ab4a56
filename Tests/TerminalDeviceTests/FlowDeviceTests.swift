import Contracts
import Device
import DeviceTestSupport
import EventBus
import FlowFiles
import Foundation
import Navigation
import Presentation
import Support
import Testing

@testable import TerminalDevice

extension Document {
    fileprivate struct Draft: DocumentMessage {
        var name: String
        var ages: [Int]
        var key: String? = "form-1"
    }
}

@Suite("Device of any flow")
struct FlowDeviceTests {
    private static func flow() throws -> Flow {
        try Flow("form", version: 1, platform: "ios", start: "form") {
            Flow.Screen("form", title: "Who are you?", sends: ["command.NameEntered", "command.HelpRequested"])
            Flow.Screen("launch", sends: ["command.NameEntered"])
            Flow.Transition(
                on: "command.NameEntered",
                guard: Flow.Guard(accept: "event.NameSaved", deadline: .seconds(5)), do: [.push("launch")])
        }
    }

    private func script(_ mode: Terminal.Mode = .interactive) throws -> SessionScript {
        SessionScript(mode, flow: try Self.flow())
    }

    private func fields(_ envelope: Envelope?) throws -> JSONValue {
        try JSONValue(parsing: #require(envelope).data)
    }

    @Test("The selected tab is a choice if the flow answers a tap on it")
    func tappedTab() throws {
        for isAnswered in [false, true] {
            let flow = try Flow("tabs", version: 1, platform: "ios", start: "home") {
                Flow.Screen("home")
                Flow.Screen("list")
                Flow.Screen("search")
                Flow.Transition(
                    on: "event.LaunchFinished", do: [.setRoot("home", container: .tabs(["list", "search"]))])
                if isAnswered { Flow.Transition(on: "user.tappedTab", do: [.ifPossible(.popToRoot)]) }
            }
            var machine = Machine(flow: flow)
            _ = machine.handle(Machine.Input(id: "m1", type: "event.LaunchFinished", data: [:]))
            var script = SessionScript(.interactive, flow: flow)
            _ = try script.show(machine.snapshot)
            let choices = script.session.scene?.choices ?? []
            #expect(choices.map(\.label) == (isAnswered ? ["Tab list", "Tab search"] : ["Tab search"]))
        }
    }

    @Test("A screen without a view model shows its title, its arguments, the documents and its commands")
    func screen() throws {
        var script = try script()
        var snapshot = Machine(flow: try Self.flow(), session: "anna").snapshot
        snapshot.state.root.instance.arguments = ["itemID": 5]
        _ = try script.show(snapshot)
        let draft = try Envelope(Document.Draft(name: "Ann", ages: [5, 7]), source: "test/1")
        let outputs = try script.handle(.message(draft))
        #expect(outputs.isDrawing)
        // The platform's own documents are not shown.
        let presence = Document.Presence(name: "a", version: "1", instance: "b", pid: 1, receives: [], sends: [])
        #expect(try script.handle(.message(.answer(presence))).isEmpty)
        let deadline = MessageType(kind: .document, name: "Deadline")
        let attributes = Attributes(type: deadline, source: "test/1")
        #expect(try script.handle(.message(Envelope(attributes: attributes, data: Data("{}".utf8)))).isEmpty)
        #expect(
            script.session.scene?.lines() == [
                "ios",
                "",
                "Who are you?",
                "  itemID: 5",
                "  Draft form-1",
                "    ages:",
                "      - 5",
                "      - 7",
                "    key: form-1",
                "    name: Ann",
                "  [1] HelpRequested",
                "  [2] NameEntered",
                "q quit",
            ])
        var withdrawn = draft
        withdrawn.data = Data()
        #expect(try script.handle(.message(withdrawn)).isDrawing)
        #expect(script.session.scene?.lines().contains { $0.contains("Draft") } == false)
    }

    @Test("The published flow gives a screen its title and its commands")
    func published() throws {
        var script = SessionScript(.interactive)
        var snapshot = Machine(flow: try Self.flow(), session: "anna").snapshot
        // The state also allows a command of another active screen.
        snapshot.commands += ["command.OtherRequested"]
        _ = try script.show(snapshot)
        #expect(
            script.session.scene?.lines() == [
                "ios", "", "form", "  [1] HelpRequested", "  [2] NameEntered", "  [3] OtherRequested", "q quit",
            ])
        let flow = try Self.flow()
        func published(_ platform: String, _ yaml: String) throws -> TerminalSession.Input {
            let document = Document.Flow(
                platform: platform, name: flow.name, version: flow.version, hash: flow.hash, source: yaml)
            return .message(try .answer(document))
        }
        #expect(try script.handle(published("mac", flow.yaml)).isEmpty)
        #expect(try script.handle(published("ios", flow.yaml)).isDrawing)
        let lines = ["ios", "", "Who are you?", "  [1] HelpRequested", "  [2] NameEntered", "q quit"]
        #expect(script.session.scene?.lines() == lines)
        let unreadable = try script.handle(published("ios", "screens: 5"))
        #expect(unreadable.contains { if case .device(.unreadable) = $0 { true } else { false } })
        #expect(script.session.scene?.lines() == lines)
    }

    @Test("A document's URL is shown whole, and opens")
    func url() throws {
        var script = try script()
        _ = try script.show(Machine(flow: try Self.flow()).snapshot)
        let name = "https://a.b/" + String(repeating: "path/", count: 30)
        _ = try script.handle(.message(Envelope(Document.Draft(name: name, ages: Array(1...15)), source: "test/1")))
        let size = TerminalSize(columns: 20, rows: 12)
        let lines = try #require(script.session.scene).lines(fitting: size)
        let whole = lines.map { $0.drop { $0 == " " } }.joined()
        #expect(whole.contains(name), "\(lines)")
        #expect(lines.contains("  … 18 more") && lines.suffix(2) == ["o open the URL", "q quit"], "\(lines)")
        #expect(try script.handle(.line("o")).browsed == [name])
    }

    @Test(
        "The focus player's screens are drawn by their own views, and screens of another app with these names are not",
        arguments: [
            ("focus-player", ["Focus Player", "  Starting…"]), ("form", ["launch", "  [1] NameEntered"]),
        ])
    func viewModels(name: String, lines: [String]) throws {
        var script = try script()
        var snapshot = Machine(flow: try Self.flow()).snapshot
        snapshot.flow.name = name
        snapshot.commands = ["command.NameEntered"]
        snapshot.state.root.instance.screen = "launch"
        _ = try script.show(snapshot)
        #expect(script.session.scene?.lines() == ["ios", ""] + lines + ["q quit"])
    }

    @Test(
        "Fields are typed as words or as JSON, and numbers, booleans and quoted text keep their types",
        arguments: [
            ("NameEntered", "{}"),
            ("2", "{}"),
            ("NameEntered name=Ann age=5", #"{"name": "Ann", "age": 5}"#),
            (#"command.NameEntered  name="Ann  Lee" vegan=true"#, #"{"name": "Ann  Lee", "vegan": true}"#),
            (#"NameEntered zip="007" code=007 none=null"#, #"{"zip": "007", "code": "007", "none": null}"#),
            (#"NameEntered {"name": "Ann", "ages": [5]}"#, #"{"name": "Ann", "ages": [5]}"#),
            ("NameEntered rate=-1.5 empty= formula=a=b", #"{"rate": -1.5, "empty": "", "formula": "a=b"}"#),
        ])
    func fields(line: String, json: String) throws {
        var script = try script()
        _ = try script.show(Machine(flow: Self.flow()).snapshot)
        let command = try #require(try script.handle(.line(line)).published.first)
        #expect(try fields(command) == JSONValue(parsing: Data(json.utf8)))
        #expect(command.type.description == "command.NameEntered")
        #expect(command.attributes.platform == "ios")
        #expect(command.attributes.device == "phone")
        #expect(command.attributes.instance == "form-1")
        #expect(command.attributes.expiryTime != nil)
        #expect(command.subject == "anna")
    }

    @Test(
        "Invalid fields are not sent, and are reported at once, in scripts too",
        arguments: [
            ("NameEntered Ann", "'Ann' is not a field"), ("NameEntered name=Ann name=Bo", "duplicate field 'name'"),
            (#"NameEntered {"name""#, "is not a JSON object"), ("NameEntered =5", "'=5' is not a field"),
        ])
    func unreadable(line: String, complaint: String) throws {
        try expectComplaint(complaint, about: .line(line))
    }

    @Test("A line that is not UTF-8 is not sent, and is reported at once, in scripts too")
    func encoding() throws {
        try expectComplaint("The line is not UTF-8", about: .unreadableLine)
        var person = try script()
        _ = try person.show(Machine(flow: Self.flow()).snapshot)
        #expect(try person.handle(.line("NameEntered name=\u{FFFD}")).published.count == 1)
    }

    /// Expects that an input sends nothing: a person reads the complaint, and a script fails with it.
    private func expectComplaint(_ complaint: String, about input: TerminalSession.Input) throws {
        var person = try script()
        _ = try person.show(Machine(flow: Self.flow()).snapshot)
        let outputs = try person.handle(input)
        #expect(outputs.published.isEmpty)
        #expect(outputs.said.count == 1 && outputs.said[0].contains(complaint))
        #expect(outputs.wantsLine)

        var script = try script(.scripted)
        _ = try script.show(Machine(flow: Self.flow()).snapshot)
        let failure = try #require(try script.handle(input).failure)
        #expect(failure.code == "device.unreadable")
        #expect(failure.message.contains(complaint))
    }

    @Test("Fields that do not match the contract of a receiving service are not sent, and are named")
    func contract() throws {
        func announced(_ key: String, _ schema: JSONSchema?) throws -> TerminalSession.Input {
            let command = MessageType(kind: .command, name: "NameEntered")
            return .message(
                try .answer(
                    Document.ServiceContract(
                        name: "form-service", version: "1", instance: key,
                        receives: [MessageContract(type: command, data: schema)], sends: [])))
        }
        let complaint = "command.NameEntered was not sent: data.name: missing; expected a string"
        var person = try script()
        _ = try person.show(Machine(flow: Self.flow()).snapshot)
        #expect(try person.handle(announced("a", .object(requiring: ["name": .string]))).isEmpty)
        #expect(try person.handle(announced("coordinator", nil)).isEmpty)
        let refused = try person.handle(.line("2"))
        #expect(refused.published.isEmpty && refused.refusals == [complaint] && refused.wantsLine)
        #expect(try person.handle(.line("HelpRequested")).published.count == 1, "no contract describes it")
        #expect(try person.handle(.line("NameEntered name=Ann")).published.count == 1)
        _ = try person.handle(announced("b", .object([:])))
        #expect(try person.handle(.line("2")).published.count == 1, "one service can read it")

        var script = try script(.scripted)
        _ = try script.show(Machine(flow: Self.flow()).snapshot)
        _ = try script.handle(announced("a", .object(requiring: ["name": .string])))
        #expect(try script.handle(.line("NameEntered")).failure?.message == complaint)
    }

    @Test("The contracts of the services arrive before the first scene", .timeLimit(.minutes(1)))
    func contractsFirst() async throws {
        let fixture = DeviceFixture()
        let command = MessageType(kind: .command, name: "NameEntered")
        try await fixture.view.publish(Document.NavigationState(Machine(flow: Self.flow()).snapshot))
        try await fixture.view.publish(
            Document.ServiceContract(
                name: "form-service", version: "1", instance: "a",
                receives: [MessageContract(type: command, data: .object(requiring: ["name": .string]))], sends: []))
        let failure = await #expect(throws: DeviceFailure.self) {
            try await fixture.device("ios", flow: Self.flow(), lines: ["NameEntered"]).run()
        }
        #expect(failure?.message == "command.NameEntered was not sent: data.name: missing; expected a string")
    }

    @Test("A guard that waits is shown, and a script's next line waits for it")
    func waiting() throws {
        var script = try script(.scripted)
        var machine = Machine(flow: try Self.flow())
        _ = try script.show(machine.snapshot)
        let pick = try #require(try script.handle(.line("NameEntered name=Ann")).picked.first)
        _ = machine.handle(Machine.Input(id: pick.id, type: "command.NameEntered"))
        #expect(try !script.show(machine.snapshot, answering: pick).wantsLine)
        #expect(
            script.session.scene?.lines().contains("… waiting for an answer to command.NameEntered") == true)
        _ = machine.handle(
            Machine.Input(
                id: "a", type: "event.NameSaved", attributes: Machine.Attributes(causationID: pick.id)))
        #expect(try script.show(machine.snapshot, answering: pick).wantsLine)
        #expect(script.session.scene?.lines().contains { $0.contains("waiting") } == false)
    }

    @Test("A command that no rule answers is answered by a document")
    func service() throws {
        var script = try script(.scripted)
        _ = try script.show(Machine(flow: Self.flow()).snapshot)
        let pick = try #require(try script.handle(.line("HelpRequested")).picked.first)
        #expect(try !script.handle(.message(.answer(Document.Draft(name: "B", ages: [])))).wantsLine)
        #expect(try script.handle(.message(.answer(Document.Draft(name: "A", ages: []), to: pick))).wantsLine)
    }

    @Test("Any result of a command answers it while the flow is not known")
    func unknownFlow() throws {
        let snapshot = Machine(flow: try Self.flow()).snapshot
        let answers: [any Message] = [
            Document.NavigationState(snapshot), Document.Draft(name: "A", ages: []),
            DomainEvent.URLOpenRequested(url: "https://a.b"),
        ]
        for answer in answers {
            var script = SessionScript(.scripted)
            _ = try script.show(snapshot)
            let pick = try #require(try script.handle(.line("NameEntered name=Ann")).picked.first)
            #expect(try !script.handle(.message(.answer(answer))).wantsLine)
            #expect(try script.handle(.message(.answer(answer, to: pick))).wantsLine)
        }
    }

    @Test("A device publishes the commands that its flow's screens send")
    func sends() throws {
        let sends = DeviceSession.sends(flow: try Self.flow(), screens: .focusPlayer).map(\.type.description)
        #expect(sends.contains("command.NameEntered") && sends.contains("command.BackCompleted"))
        // The messages of the focus player's screens are not part of another app's contract.
        #expect(!sends.contains("command.PlaylistSelected"))
        let receives = DeviceSession.receives(flow: try Self.flow(), screens: .focusPlayer).map(\.type.description)
        #expect(receives.contains("document.NavigationState") && !receives.contains("document.Playlists"))
        let own = DeviceSession.receives(flow: nil, screens: .focusPlayer).map(\.type.description)
        #expect(own.contains("document.Playlists"))
        let ownSends = DeviceSession.sends(flow: nil, screens: .focusPlayer).map(\.type.description)
        #expect(ownSends.contains("command.PlaylistSelected"))
    }
}
