import Contracts
import EventBus
import FlowFiles
import Foundation
import Navigation
import Support
import Testing

@Suite("JSON Schema of a type, inferred from its decoding")
struct SchemaInferenceTests {
    private enum Mood: String, Codable, CaseIterable {
        case calm, wild
    }

    private enum Level: Int, Codable, CaseIterable {
        case low = 1
        case high
    }

    private struct Song: Codable {
        var title: String
        var seconds: Int?
    }

    private struct Everything: Codable {
        var flag: Bool
        var count: UInt16
        var share: Double
        var name: String
        var mood: Mood
        var level: Level?
        var song: Song
        var songs: [Song]
        var perhaps: [Song?]
        var byName: [String: Song]
        var url: URL
        var date: Date
        var whatever: JSONValue
        var perhapsWhatever: JSONValue?
    }

    @Test("The schema has fields, optional fields, lists, enums and nested types")
    func everything() throws {
        let song = JSONSchema.object(["title": .init(.string), "seconds": .init(.integer, isRequired: false)])
        #expect(
            try JSONSchema(of: Everything.self)
                == .object([
                    "flag": .init(.boolean), "count": .init(.integer), "share": .init(.number),
                    "name": .init(.string), "mood": .init(.enumeration(["calm", "wild"])),
                    "level": .init(.enumeration([1, 2]), isRequired: false), "song": .init(song),
                    "songs": .init(.array(song)), "perhaps": .init(.array(.nullable(song))),
                    "byName": .init(.map(song)), "url": .init(.string), "date": .init(.string),
                    "whatever": .init(.any), "perhapsWhatever": .init(.any, isRequired: false),
                ]))
    }

    /// Decodes itself by hand: one field has a default, and another one is read from a nested object.
    private struct Handwritten: Decodable {
        var name: String
        var size: Int

        private enum Keys: String, CodingKey {
            case name = "title"
            case box
            case size
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            name = try container.decode(String.self, forKey: .name)
            let box = try container.nestedContainer(keyedBy: Keys.self, forKey: .box)
            size = try box.decodeIfPresent(Int.self, forKey: .size) ?? 0
        }
    }

    @Test("The schema follows manual decoding, with the JSON names")
    func handwritten() throws {
        let box = JSONSchema.object(["size": .init(.integer, isRequired: false)])
        #expect(
            try JSONSchema(of: Handwritten.self) == .object(["title": .init(.string), "box": .init(box)]))
    }

    private struct Wrapped: Codable {
        var song: Song

        init(from decoder: any Decoder) throws { song = try Song(from: decoder) }
        func encode(to encoder: any Encoder) throws { try song.encode(to: encoder) }
    }

    private struct Tree: Codable {
        var name: String
        var children: [Tree]
    }

    @Test("The schema omits wrappers, and ends where a type contains itself")
    func wrapped() throws {
        #expect(try JSONSchema(of: Wrapped.self) == JSONSchema(of: Song.self))
        #expect(try JSONSchema(of: Tree.self) == .object(["name": .init(.string), "children": .init(.array(.any))]))
    }

    private struct Nothing: Codable {}

    @Test("The schema of a type without fields is an object without members")
    func nothing() throws {
        #expect(try JSONSchema(of: Nothing.self) == .object([:]))
    }

    private enum Picky: String, Codable {
        case one
    }

    private struct Particular: Codable {
        var picky: Picky
    }

    @Test("A type that cannot be inferred is reported with a remedy")
    func unknown() {
        let error = #expect(throws: SchemaError.self) { try JSONSchema(of: Particular.self) }
        #expect(
            error?.description
                == "the JSON schema of Picky cannot be inferred: the type cannot be decoded from sample values; "
                + "let it conform to SchemaDescribing"
        )
    }

    private static let samples: [any Message] = [
        Command.AlertAnswered(instance: "a", button: "b"), Command.DataDispatched(name: "a", data: ["b": 1]),
        Command.ScreenDisplayed(revision: 1), DomainEvent.LaunchFinished(), DomainEvent.MetricsRequested(),
        DomainEvent.MetricsReported(instance: "i", handled: 1, failed: 0, lag: 2),
        ApplicationError(code: "a", message: "b", recovery: "c", severity: .warning),
        Document.ErrorBanner(errorID: "a", error: ApplicationError(code: "b", message: "c"), waiting: 1),
        Document.Presence(name: "a", version: "1", instance: "i", pid: 1, receives: ["command.B"], sends: []),
        Document.ScheduledCommand(
            at: Date(timeIntervalSince1970: 1), command: .init(type: Command.ScreenGone.type, data: ["b": 1]),
            consumer: "a", id: "b"),
        Document.ServiceContract(
            name: "a", version: "1", instance: "i",
            receives: [
                MessageContract(type: Command.ScreenGone.type, data: .object(["a": .init(.string)]), line: "${a}")
            ], sends: []),
    ]

    @Test("The schema matches the JSON of the platform's messages", arguments: samples)
    func platform(message: any Message) throws {
        let schema = try JSONSchema(of: type(of: message))
        #expect(schema.problems(with: try JSONValue(encoding: message)).map(\.description) == [])
    }

    @Test("The schema matches the JSON of a navigation state")
    func navigationState() throws {
        let yaml = "{ name: a, version: 1, platform: ios, start: b, screens: { b: }, transitions: [] }"
        let snapshot = Machine(flow: try Flow(yaml: yaml, file: "a.yaml")).snapshot
        let json = try JSONValue(encoding: Document.NavigationState(snapshot))
        #expect(Document.NavigationState.schema.problems(with: json) == [])
    }

    private struct Poured: EventMessage {
        static var line: String? { "${cups} cups" }
        var cups: Int
    }

    @Test("The contract of a message has the schema and the message's line")
    func line() throws {
        #expect(
            try DeclaredMessage(Poured.self).contract()
                == MessageContract(type: Poured.type, data: .object(["cups": .init(.integer)]), line: "${cups} cups"))
        #expect(try DeclaredMessage(Command.ScreenGone.self).contract().line == nil)
    }

    @Test("Every message of the platform is identified by its name alone")
    func byName() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/Contracts/Contracts")
        for (page, kind) in [("Commands", "command"), ("Events", "event"), ("Documents", "document")] {
            let text = try String(contentsOf: sources.appending(path: "\(page).swift"), encoding: .utf8)
            let names = text.matches(of: /struct (\w+): \w+Message\b/).map(\.1)
            #expect(!names.isEmpty)
            for name in names {
                let type = try #require(MessageType("\(kind).\(name)"))
                #expect(try DeclaredMessage(type).contract().data != nil, "\(type)")
            }
        }
        let stranger = MessageType(kind: .command, name: "Unheard")
        #expect(try DeclaredMessage(stranger).contract() == MessageContract(type: stranger))
    }
}
