import AppContract
import Contracts
import EventBus
import FlowReview
import Foundation
import Navigation
import Support
import Testing

@Suite("A contract as an AsyncAPI document")
struct AsyncAPITests {
    @Test("A written document reads back as the same contract")
    func roundTrip() throws {
        let contract = Shop.contract()
        #expect(try AppContract(parsing: JSONEncoder().encode(contract.asyncAPI)) == contract)
    }

    @Test("The channel for the answers to a query has the address null")
    func answers() throws {
        let document = try Shop.contract().document()
        #expect(document["channels"]?["query.Price.answer"]?["address"] == .null)
        #expect(document["channels"]?["query.Price"]?["address"] == "query.Price.{partition}")
        #expect(document["channels"]?["event.Sold"]?["address"] == "event.Sold.{partition}")
    }

    @Test("The durable consumers of a service are kept, if it names them")
    func consumers() throws {
        var contract = Shop.contract()
        #expect(try contract.document()["x-segue-consumers"] == nil && contract.parties["store"]?.consumers == nil)
        for consumers in [["store", "stock"], ["returns"]] {
            try contract.add(
                Document.ServiceContract(name: "store", version: "1", receives: [], sends: [], consumers: consumers),
                as: "store")
        }
        #expect(contract.parties["store"]?.consumers == ["store", "stock", "returns"])
        let json = try contract.document().description
        #expect(try AppContract(parsing: Data(json.utf8)) == contract)
        let error = #expect(throws: AppContract.Unreadable.self) {
            try AppContract(parsing: Data(json.replacing("\"store\":[", with: "\"stranger\":[").utf8))
        }
        #expect(error?.description == "'x-segue-consumers' needs a list of names for each service")
    }

    @Test("What handlers send is kept with the operation that receives the message, and merged")
    func handlers() throws {
        func service(_ handlers: [String: [String]]?) -> Document.ServiceContract {
            Document.ServiceContract(
                name: "shelf", version: "1",
                receives: [MessageContract(type: Shop.buy), MessageContract(type: Shop.sold)],
                sends: [MessageContract(type: Shop.sold)], handlers: handlers)
        }
        var contract = Shop.contract()
        #expect(contract.parties["store"]?.handlers == nil)
        try contract.add(
            service(["command.Buy": ["event.Sold", "no message"], "no message": ["event.Sold"]]), as: "shelf")
        try contract.add(service(["command.Buy": ["event.Gone"], "event.Sold": []]), as: "shelf")
        let gone = MessageType(kind: .event, name: "Gone")
        #expect(contract.parties["shelf"]?.handlers == [Shop.buy: [Shop.sold, gone], Shop.sold: []])
        let document = try contract.document()
        let operations = document["operations"]
        #expect(operations?["shelf.receive.command.Buy"]?["x-segue-sends"] == ["event.Gone", "event.Sold"])
        #expect(operations?["shelf.receive.event.Sold"]?["x-segue-sends"] == [])
        #expect(operations?["shelf.send.event.Sold"]?["x-segue-sends"] == nil)
        #expect(operations?["store.receive.command.Buy"]?["x-segue-sends"] == nil)
        #expect(try AppContract(parsing: Data(document.description.utf8)) == contract)
        #expect(
            contract.catalogue.services["shelf"]
                == .init(
                    receives: ["command.Buy", "event.Sold"], outcomes: ["event.Sold"], sends: ["event.Sold"],
                    answers: ["command.Buy": ["event.Sold", "event.Gone"], "event.Sold": []]))

        let invalid = document.description.replacing("[\"event.Gone\",", with: "[\"gone\",")
        let error = #expect(throws: AppContract.Unreadable.self) { try AppContract(parsing: Data(invalid.utf8)) }
        #expect(
            error?.description
                == "'x-segue-sends' of operation 'shelf.receive.command.Buy' needs the names of messages such as "
                + "event.LaunchFinished")
        // A program that does not declare handlers may send anything at any time.
        try contract.add(service(nil), as: "shelf")
        #expect(contract.parties["shelf"]?.handlers == nil)
    }

    @Test("The line of a message is kept as its summary, if a service gives one")
    func line() throws {
        var contract = Shop.contract()
        #expect(try contract.document().summary(of: Shop.buy) == nil)
        for line in [nil, "buys ${item}", "another"] {
            let buy = MessageContract(type: Shop.buy, line: line)
            #expect(
                try contract.add(
                    Document.ServiceContract(name: "till", version: "1", receives: [], sends: [buy]), as: "till")
                    == [], "a line is not a conflict")
        }
        let document = try contract.document()
        #expect(document.summary(of: Shop.buy) == "buys ${item}" && document.summary(of: Shop.sold) == nil)
        #expect(try AppContract(parsing: Data(document.description.utf8)) == contract)
        let long = document.description.replacing("buys ${item}", with: String(repeating: "a", count: 201))
        #expect(try AppContract(parsing: Data(long.utf8)).messages[Shop.buy]?.line == nil)
    }

    @Test(
        "A contract with an invalid name is refused",
        arguments: ["a\n}", "a b", "", "../a", "\"a\"", "-a", "é", String(repeating: "a", count: 201)])
    func names(name: String) throws {
        var contract = Shop.contract()
        let before = contract
        func service(_ consumers: [String]?) -> Document.ServiceContract {
            Document.ServiceContract(name: "x", version: "1", receives: [], sends: [], consumers: consumers)
        }
        #expect(throws: AppContract.Unreadable.self) { try contract.add(service(nil), as: name) }
        #expect(throws: AppContract.Unreadable.self) { try contract.add(service(["a", name]), as: "x") }
        #expect(contract == before)
        var document = try Shop.contract().document().objectValue ?? [:]
        document["x-segue-consumers"] = ["store": [.string(name)]]
        let consumers = JSONValue.object(document).description
        #expect(throws: AppContract.Unreadable.self) { try AppContract(parsing: Data(consumers.utf8)) }
        let written = JSONValue.string(name).description
        let renamed = try Shop.contract().document().description.replacing(
            "\"name\":\"store\"", with: "\"name\":\(written)")
        #expect(throws: AppContract.Unreadable.self) { try AppContract(parsing: Data(renamed.utf8)) }
    }

    @Test("The document has a channel for each message, an operation for each use, and no dangling reference")
    func document() throws {
        let document = try Shop.contract().document()
        #expect(document["asyncapi"] == "3.0.0")
        #expect(
            document["channels"]?.objectValue?.keys.sorted() == [
                "command.Buy", "event.Sold", "query.Price", "query.Price.answer",
            ])
        #expect(
            document["operations"]?.objectValue?.keys.sorted() == [
                "store.receive.command.Buy", "store.receive.query.Price", "store.send.event.Sold",
                "till.receive.event.Sold", "till.send.command.Buy", "till.send.query.Price",
            ])
        let references = document.references
        #expect(references.count > 20)
        for reference in references {
            // `value(at:)` splits paths at dots, which are also in the names of messages.
            let target = reference.dropFirst(2).split(separator: "/").reduce(document as JSONValue?) {
                $0?[String($1)]
            }
            #expect(target != nil, "\(reference)")
        }
    }

    @Test(
        "Any other document is refused with a reason",
        arguments: [
            ("{", "the text is not JSON"), ("{}", "the JSON is not an AsyncAPI 3 document"),
            (#"{"asyncapi":"2.6.0"}"#, "the JSON is not an AsyncAPI 3 document"),
            (
                #"{"asyncapi":"3.0.0","channels":{"orders":{}}}"#,
                "channel 'orders' is not named after a message such as event.LaunchFinished"
            ),
            (
                #"{"asyncapi":"3.0.0","operations":{"a":{"action":"send"}}}"#,
                "operation 'a' needs the channel of a known message and a service as its tag"
            ),
        ])
    func unreadable(json: String, reason: String) {
        let error = #expect(throws: AppContract.Unreadable.self) { try AppContract(parsing: Data(json.utf8)) }
        #expect(error?.description == reason)
    }

    @Test("A document with an operation that neither sends nor receives is refused")
    func action() throws {
        let json = try Shop.contract().document().description
        let error = #expect(throws: AppContract.Unreadable.self) {
            try AppContract(parsing: Data(json.replacing("\"action\":\"send\"", with: "\"action\":\"hide\"").utf8))
        }
        #expect(error?.description.hasSuffix(" needs the action send or receive") == true)
    }

    @Test(
        "A document with a value of another type is refused with its place",
        arguments: [
            (#""info":{"title":1}"#, "info.title"),
            (#""operations":{"a":{"tags":"store"}}"#, "operations.a.tags"),
            (#""x-segue-consumers":{"store":"stock"}"#, "x-segue-consumers.store"),
        ])
    func types(member: String, place: String) {
        let error = #expect(throws: AppContract.Unreadable.self) {
            try AppContract(parsing: Data(#"{"asyncapi":"3.0.0",\#(member)}"#.utf8))
        }
        #expect(error?.description.hasPrefix("the AsyncAPI document is invalid: at \(place): ") == true)
    }

    @Test("The first of two contradictory services decides, and the message is named")
    func conflict() throws {
        var contract = Shop.contract()
        let other = Document.ServiceContract(
            name: "clerk", version: "0.9", receives: [MessageContract(type: Shop.sold, data: .object([:]))],
            sends: [MessageContract(type: Shop.buy)])
        #expect(try contract.add(other, as: "clerk") == [Shop.sold])
        #expect(contract.messages[Shop.sold]?.data == Shop.receipt)
        #expect(contract.receivers(of: Shop.sold) == ["clerk", "till"])
    }

    @Test("A contract gives a flow the fields, the services of each message and their outcomes, without coordinators")
    func catalogue() throws {
        var contract = Shop.contract()
        let coordinator = Document.ServiceContract(
            name: "navigation-coordinator", version: "1",
            receives: [Shop.sold, .init(kind: .event, name: "Sodl"), .init(kind: .command, name: "Look")]
                .map { MessageContract(type: $0) },
            sends: [
                MessageContract(type: Document.NavigationState.type),
                MessageContract(type: DomainEvent.MessageDiscarded.type),
            ])
        try contract.add(coordinator, as: "ios-coordinator")
        let catalogue = contract.catalogue
        #expect(catalogue.data["command.Buy"]?.members?.keys.sorted() == ["item", "note", "size"])
        #expect(catalogue.data["document.NavigationState"] == .any, "of which nothing is known")
        #expect(catalogue.data["event.Sodl"] == nil, "no service knows what a flow misspells")
        #expect(catalogue.data["command.Look"] == .any, "a command can be known to flows only")
        #expect(
            catalogue.services == [
                "store": .init(
                    receives: ["command.Buy", "query.Price"], outcomes: ["event.Sold"], sends: ["event.Sold"]),
                "till": .init(receives: ["event.Sold"], sends: ["command.Buy", "query.Price"]),
            ])
        #expect(catalogue.flowCommands == ["command.Look"])
    }
}

extension AppContract {
    fileprivate func document() throws -> JSONValue {
        try JSONValue(encoding: asyncAPI)
    }
}

extension JSONValue {
    fileprivate func summary(of type: MessageType) -> JSONValue? {
        self["components"]?["messages"]?["\(type)"]?["summary"]
    }

    /// The targets of all references in the document.
    fileprivate var references: [String] {
        switch self {
        case .object(let members):
            members.flatMap { $0.key == "$ref" ? [$0.value.stringValue ?? ""] : $0.value.references }
        case .array(let elements): elements.flatMap(\.references)
        default: []
        }
    }
}
