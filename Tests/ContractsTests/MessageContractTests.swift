import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("Contract of a message")
struct MessageContractTests {
    private let type = MessageType(kind: .document, name: "Brew")

    @Test("The line of a message is kept as JSON")
    func line() throws {
        let contract = MessageContract(type: type, data: .object([:]), line: "${seconds} s")
        let json = try JSONEncoder().encode(contract)
        #expect(try JSONValue(parsing: json)["line"] == "${seconds} s")
        #expect(try JSONDecoder().decode(MessageContract.self, from: json) == contract)
    }

    @Test(
        "A contract has no line if it is from an older program, empty, too long or not a string",
        arguments: [nil, "", 5, .null, ["a"], .string(String(repeating: "é", count: 201))] as [JSONValue?])
    func unusable(line: JSONValue?) throws {
        var members: [String: JSONValue] = ["type": "document.Brew", "data": ["type": "string"]]
        members["line"] = line
        let json = Data(JSONValue.object(members).description.utf8)
        let contract = try JSONDecoder().decode(MessageContract.self, from: json)
        #expect(contract == MessageContract(type: type, data: .string))
        let written = try JSONValue(parsing: try JSONEncoder().encode(contract))
        #expect(contract.line == nil && written["line"] == nil)
    }

    @Test("A line can have up to 200 characters")
    func longest() {
        let line = String(repeating: "é", count: 200)
        #expect(MessageContract(type: type, line: line).line == line)
        #expect(MessageContract(type: type, line: line + "é").line == nil)
    }
}
