import FlowFiles
import HostileValues
import Navigation
import Support
import Testing

@Suite("Flow files with hostile values")
struct HostileFlowTests {
    /// A flow with a number, a duration and a text in each place that can have one.
    private static let flow: JSONValue = [
        "name": "hostile", "version": 1, "platform": "ios", "start": "a", "screens": ["a": [:], "b": [:]],
        "links": [
            [
                "url": "hostile://b/{id}",
                "to": ["root": "a", "path": [["screen": "b", "arguments": ["id": "${url.id}"]]]], "park": "5s",
            ],
            [
                "url": "hostile://c/{n?:integer}", "when": ["root": "b"], "otherwise": ["root": "b"],
                "to": ["root": ["screen": "b", "arguments": ["n": "${url.n:-1}"]]],
            ],
            ["url": "hostile://d/{n:number}", "redirect": "hostile://b/${url.n}"],
            ["url": "hostile://e", "action": true, "send": ["type": "command.E", "data": ["text": "$${x}"]]],
        ],
        "transitions": [
            ["on": "event.Push", "where": ["price": ["atMost": 5]], "do": [["push": "b"]]],
            ["on": "event.Pop", "do": [["pop": 1]]],
            ["on": "event.PopOfColumn", "do": [["pop": ["count": 1]]]],
            [
                "on": "event.Ask", "guard": ["accept": ["on": "event.Yes"], "deadline": "5s"],
                "do": [["setRoot": "b"]],
            ],
        ],
    ]

    @Test("A flow with hostile values is read and runs, or is refused with findings", .timeLimit(.minutes(2)))
    func hostile() throws {
        #expect(throws: Never.self) { try Flow(yaml: Self.flow.description, file: "flow.yaml") }
        for text in Self.flow.hostileTexts(.ofRun) {
            guard let read = try? Flow(yaml: text.json, file: "flow.yaml") else { continue }
            var machine = Machine(flow: read)
            for (number, type) in ["Push", "Pop", "PopOfColumn", "Ask"].enumerated() {
                _ = machine.handle(Machine.Input(id: "m\(number)", type: "event.\(type)", data: ["price": 4]))
            }
            for url in ["hostile://b/1", "hostile://c", "hostile://c/5", "hostile://d/1.5", "hostile://e"] {
                let link: JSONValue = ["url": .string(url)]
                _ = machine.handle(Machine.Input(id: url, type: "event.DeepLinkReceived", data: link))
            }
            _ = Restoration(machine.snapshot, flow: read)
        }
    }

    @Test("A number of screens beyond the exact integers of JSON is refused with its place")
    func numbers() {
        for (keyPath, value) in [("pop", "9223372036854775807"), ("version", "-9223372036854775808")] {
            let text = Self.flow.description.replacing("\"\(keyPath)\":1", with: "\"\(keyPath)\":\(value)")
            let error = #expect(throws: FlowError.self) { try Flow(yaml: text, file: "flow.yaml") }
            #expect("\(error.map { "\($0)" } ?? "")".contains("is not between -9007199254740991 and 9007199254740991"))
        }
    }
}
