import Contracts
import Foundation
import Support
import Testing

@Suite("Names in documents of processes")
struct DocumentNameTests {
    private static let presence: JSONValue = [
        "name": "music-service", "version": "1", "instance": "1a2b3c4d", "pid": 7, "receives": [], "sends": [],
    ]
    private static let contract: JSONValue = [
        "name": "music-service", "version": "1", "instance": "1a2b3c4d", "receives": [], "sends": [],
    ]

    private func decode(_ document: JSONValue, as type: any Decodable.Type) throws {
        _ = try JSONDecoder().decode(type, from: Data(document.description.utf8))
    }

    @Test(
        "A name that is not safe in a path, a file or a terminal is refused in each document",
        arguments: [
            "", "../../etc/passwd", "a/b", "a b", ".hidden", "-option", "a\nExecStart=/bin/sh", "\u{1B}[2J", "a\u{0}",
            "\u{202E}a", "a: b", "naïve", String(repeating: "x", count: 201),
        ])
    func names(name: String) throws {
        for (document, type) in [
            (Self.presence, Document.Presence.self), (Self.contract, Document.ServiceContract.self),
        ] as [(JSONValue, any Decodable.Type)] {
            try decode(document, as: type)
            for member in ["name", "instance"] {
                guard var members = document.objectValue else { continue }
                members[member] = .string(name)
                let error = #expect(throws: DecodingError.self) { try decode(.object(members), as: type) }
                #expect(error.map { "\($0)" }?.contains(ServiceName.rule) == true, "\(type).\(member)")
            }
        }
    }

    @Test("A presence of an older program has metrics, which are ignored")
    func figures() throws {
        var members = Self.presence.objectValue ?? [:]
        members.merge(["handled": 7, "failed": "many", "lag": -1, "consumers": []]) { $1 }
        let data = Data(JSONValue.object(members).description.utf8)
        let presence = try JSONDecoder().decode(Document.Presence.self, from: data)
        #expect(presence.runs(consumer: "music-service") && !presence.runs(consumer: "other"))
        let encoded = try JSONValue(parsing: try JSONEncoder().encode(presence)).objectValue
        #expect(encoded?.keys.contains("handled") == false)
    }

    @Test(
        "Metrics are refused if a number is not a count, or the instance is not a name",
        arguments: [
            ("instance", .string("../x")), ("handled", -1), ("failed", 1.5), ("lag", .string("1")), ("handled", nil),
        ] as [(String, JSONValue?)])
    func metrics(member: String, value: JSONValue?) throws {
        var members: [String: JSONValue] = ["instance": "1a2b3c4d", "handled": 1, "failed": 0, "lag": 10_000]
        try decode(.object(members), as: DomainEvent.MetricsReported.self)
        members[member] = value
        #expect(throws: DecodingError.self) { try decode(.object(members), as: DomainEvent.MetricsReported.self) }
    }

    @Test("A contract needs no instance")
    func noInstance() throws {
        for instance in [nil, JSONValue.null] {
            var members = Self.contract.objectValue ?? [:]
            members["instance"] = instance
            let data = Data(JSONValue.object(members).description.utf8)
            #expect(try JSONDecoder().decode(Document.ServiceContract.self, from: data).instance == nil)
        }
    }
}
