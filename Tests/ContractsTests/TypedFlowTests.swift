import EventBus
import Foundation
import Navigation
import Support
import Testing

@testable import Contracts

@Suite("Flows with messages and fields named by structs")
struct TypedFlowTests {
    private enum Strength: String, Codable, CaseIterable {
        case mild, strong
    }

    private struct Tea: Codable, Equatable {
        var name: String
        var origin: String?

        private enum CodingKeys: String, CodingKey {
            case name = "title"
            case origin
        }
    }

    private struct Brewed: EventMessage {
        var tea: Tea
        @BoundedCount var seconds: Int
        var share: Double
        var isIced: Bool
        var note: String?
        var strength: Strength
        var at: Date
        var tags: [String]
        var cups: [String: Int]

        var isLong: Bool { seconds > 0 }
    }

    @Test("The field of a key path is found by changing a sample of the message")
    func paths() throws {
        let fields: [(PartialKeyPath<Brewed>, String)] = [
            (\.tea.name, "tea.title"), (\.tea.origin, "tea.origin"), (\.tea, "tea"), (\.seconds, "seconds"),
            (\.share, "share"), (\.isIced, "isIced"), (\.note, "note"), (\.strength, "strength"), (\.at, "at"),
            (\.tags, "tags"), (\.cups, "cups"),
        ]
        for (keyPath, path) in fields { #expect(try FieldPath.path(of: keyPath) == path) }
    }

    @Test("A key path to a computed value is refused")
    func computed() {
        for keyPath: PartialKeyPath<Brewed> in [\.isLong, \.tags.count, \.self] {
            let error = #expect(throws: SchemaError.self) { try FieldPath.path(of: keyPath) }
            #expect(error?.description.contains("write the name of a field instead") == true)
        }
    }

    private enum Sour: String, Codable {
        case lemon
    }

    private struct Squeezed: EventMessage {
        var sour: Sour
    }

    @Test("A message that cannot be decoded from samples is named")
    func unreadable() {
        let error = #expect(throws: SchemaError.self) { try FieldPath.path(of: \Squeezed.sour) }
        #expect(error?.description.contains("let it conform to SchemaDescribing") == true)
    }

    @Test("A flow with a key path that is not a field is refused")
    func refused() {
        let sent: [PartialKeyPath<Command.AlertAnswered>: JSONValue] = [\.button.count: 1]
        let rules = [
            Flow.Transition(on: Brewed.self, where: [\.isLong: true], do: [.popToRoot]),
            Flow.Transition(on: Brewed.self, do: [.push(.screen("menu", ["x": .data(\Brewed.tags.count)]))]),
            Flow.Transition(on: Brewed.self, do: [.send(Command.AlertAnswered.self, sent)]),
            Flow.Transition(
                on: Brewed.self,
                guard: .init(accept: .init(Brewed.self, where: [\.isLong: true]), deadline: .seconds(1)),
                do: [.popToRoot]),
        ]
        for rule in rules {
            let error = #expect(throws: FlowError.self) {
                try Flow("tea", version: 1, platform: "ios", start: "menu") {
                    Flow.Screen("menu")
                    rule
                }
            }
            let text = error?.description ?? ""
            #expect(text.contains(" is not a field that ") && !text.isEmpty, "\(text)")
        }
    }

    @Test("A field that two key paths name is refused")
    func twice() {
        let sent: [PartialKeyPath<Brew>: JSONValue] = [\.tea: ["title": "Assam"], \.tea.name: "Assam"]
        let error = #expect(throws: FlowError.self) {
            try Flow("tea", version: 1, platform: "ios", start: "menu") {
                Flow.Screen("menu")
                Flow.Transition(on: Brewed.self, do: [.send(Brew.self, sent)])
            }
        }
        #expect(error?.description.contains("tea is given twice") == true)
    }

    @Test("Data by key path has the members of the message's JSON")
    func nested() {
        let data: [PartialKeyPath<Brew>: JSONValue] = [\.tea.name: "Assam", \.tea.origin: "India", \.seconds: 60]
        #expect(
            Flow.Action.send(Brew.self, data)
                == .send(type: "command.Brew", data: ["tea": ["title": "Assam", "origin": "India"], "seconds": 60]))
    }

    private struct Brew: CommandMessage {
        var tea: Tea
        @BoundedCount var seconds: Int
    }

    @Test("A flow with structs equals the flow with strings")
    func equal() throws {
        let typed = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu", sends: Command.AlertAnswered.self, Command.TabSelected.self)
            Flow.Screen("ready")
            Flow.Transition(
                on: Brewed.self, where: [\.seconds: .atLeast(60), \.strength: "strong"],
                do: [
                    .push(.screen("ready", ["name": .data(\Brewed.tea.name)])),
                    .send(Command.AlertAnswered.self, [\.button: "ok", \.instance: .data(\Brewed.note)]),
                ])
            Flow.Transition(
                on: Brewed.self,
                guard: .init(
                    ask: .init(Command.AlertAnswered.self, [\.button: "ok"]),
                    accept: .init(Brewed.self, where: [\.isIced: true]), deadline: .seconds(1)),
                do: [.push(.screen("ready", ["name": .answer(\Brewed.tea.name)]))])
        }
        let written = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu", sends: ["command.AlertAnswered", "command.TabSelected"])
            Flow.Screen("ready")
            Flow.Transition(
                on: "event.Brewed", where: ["seconds": .atLeast(60), "strength": "strong"],
                do: [
                    .push(.screen("ready", ["name": "${data.tea.title}"])),
                    .send(type: "command.AlertAnswered", data: ["button": "ok", "instance": "${data.note}"]),
                ])
            Flow.Transition(
                on: "event.Brewed",
                guard: .init(
                    ask: .init("command.AlertAnswered", data: ["button": "ok"]),
                    accept: .init("event.Brewed", where: ["isIced": true]), deadline: .seconds(1)),
                do: [.push(.screen("ready", ["name": "${answer.tea.title}"]))])
        }
        #expect(typed.hash == written.hash && typed == written)
    }
}
