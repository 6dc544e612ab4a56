import AppContract
import Contracts
import EventBus
import Navigation
import Support
import Testing

@Suite("A change of a contract")
struct ContractComparisonTests {
    private func findings(_ new: AppContract, from old: AppContract = Shop.contract()) -> [String] {
        ContractComparison(from: old, to: new).findings.filter(\.isBreaking).map(\.description)
    }

    private func changed(
        _ schema: JSONSchema, _ name: String, to property: JSONSchema.Property?
    ) -> JSONSchema {
        guard case .object(var members) = schema else { return schema }
        members[name] = property
        return .object(members)
    }

    @Test("An equal contract, or one with optional additions, breaks nothing")
    func compatible() {
        #expect(ContractComparison(from: Shop.contract(), to: Shop.contract()).findings == [])
        let more = changed(Shop.order, "gift", to: .init(.boolean, isRequired: false))
        #expect(findings(Shop.contract(buy: more)) == [])
        let receipt = changed(Shop.receipt, "total", to: .init(.integer))
        #expect(findings(Shop.contract(sold: receipt, tillReads: false)) == [])
        #expect(
            ContractComparison(from: Shop.contract(), to: Shop.contract(buy: more)).findings.map(\.description) == [
                "command.Buy: data.gift: new, a boolean, optional"
            ])
    }

    @Test("A changed answer of a handler breaks nothing and is told, if both contracts have the handlers")
    func answers() throws {
        func contract(_ sent: [String]?) throws -> AppContract {
            var contract = Shop.contract()
            let handlers = sent.map { ["command.Buy": $0] }
            try contract.add(
                Document.ServiceContract(
                    name: "shelf", version: "1.0.0", receives: [MessageContract(type: Shop.buy)], sends: [],
                    handlers: handlers), as: "shelf")
            return contract
        }
        func findings(_ old: [String]?, _ new: [String]?) throws -> [ContractFinding] {
            ContractComparison(from: try contract(old), to: try contract(new)).findings
        }
        #expect(try findings(nil, ["event.Sold"]) == [])
        #expect(try findings(["event.Sold"], ["event.Sold"]) == [])
        let changed = try findings(["event.Sold"], ["event.Gone", "event.Lost"])
        #expect(
            changed.map(\.description) == [
                "command.Buy: no longer answered by shelf with event.Sold, now also answered by shelf with event.Gone and "
                    + "event.Lost"
            ])
        #expect(changed.allSatisfy { !$0.isBreaking })
    }

    @Test("A new required field or a refused value of a received message breaks its senders")
    func receiving() {
        #expect(
            findings(Shop.contract(buy: changed(Shop.order, "gift", to: .init(.boolean)))) == [
                "command.Buy: data.gift: needed now, but not sent by till; make it optional"
            ])
        #expect(
            findings(Shop.contract(buy: changed(Shop.order, "note", to: .init(.string)))) == [
                "command.Buy: data.note: needed now, but may be left out by till; make it optional"
            ])
        let receipt = changed(Shop.receipt, "total", to: .init(.integer))
        #expect(
            findings(Shop.contract(sold: receipt)) == [
                "event.Sold: data.total: needed now, but not sent by store; make it optional"
            ], "the journal has receipts without")
        #expect(
            findings(Shop.contract(buy: changed(Shop.order, "size", to: .init(.enumeration(["M"]))))) == [
                #"command.Buy: data.size: "S" is unknown now, but may be sent by till; keep it"#
            ])
    }

    @Test("A missing field or a new value of a sent message breaks its readers")
    func sending() {
        #expect(
            findings(Shop.contract(sold: .object([:]))) == [
                "event.Sold: data.items: no longer sent, but needed by till; keep sending it"
            ])
        #expect(
            findings(Shop.contract(buy: changed(Shop.order, "size", to: .init(.enumeration(["S", "M", "L", "XL"])))))
                == [
                    #"command.Buy: data.size: may be "L" now, which is unknown to store; update the receivers first"#,
                    #"command.Buy: data.size: may be "XL" now, which is unknown to store; update the receivers first"#,
                ])
        let items = JSONSchema.array(.object(["name": .init(.string, isRequired: false)]))
        #expect(
            findings(Shop.contract(sold: .object(["items": .init(items)]))) == [
                "event.Sold: data.items[].name: may be left out now, but needed by till; keep it required"
            ])
    }

    @Test("A changed form of a field breaks both sides, and is reported once")
    func form() {
        #expect(
            findings(Shop.contract(buy: changed(Shop.order, "item", to: .init(.integer)))) == [
                "command.Buy: data.item: a whole number now, but read as a string by store; "
                    + "give the new form a name of its own"
            ])
    }

    @Test("A change of an answer breaks the askers, and so does a question that requires more")
    func queries() {
        let tag = JSONSchema.object(["cents": .init(.number)])
        #expect(
            findings(Shop.contract(answer: tag)) == [
                "query.Price: answer.cents: a number now, but read as a whole number by till; "
                    + "give the new form a name of its own"
            ])
        #expect(
            findings(Shop.contract(asked: .object(["item": .init(.string)]))) == [
                "query.Price: data.item: needed now, but not sent by till; make it optional"
            ])
    }

    @Test("A removed message breaks every process that needs it, and a removed question breaks none")
    func removal() {
        #expect(
            findings(Shop.contract(buy: nil)) == [
                "command.Buy: no longer received, but sent by till; keep receiving it"
            ])
        #expect(
            findings(Shop.contract(buy: nil), from: Shop.contract(tillBuys: false)) == [
                "command.Buy: no longer received, but sent by others; keep receiving it"
            ])
        #expect(
            findings(Shop.contract(sold: nil)) == [
                "event.Sold: no longer sent, but received by till; keep sending it"
            ])
        #expect(findings(Shop.contract(tillBuys: false)) == [])
        #expect(findings(Shop.contract(tillReads: false)) == [])
    }

    @Test("A change of a sent message breaks only its readers")
    func direction() {
        let wider = changed(Shop.order, "size", to: .init(.string))
        #expect(findings(Shop.contract(buy: wider, tillBuys: false)) == [], "the store takes more than before")
        #expect(findings(Shop.contract(buy: wider)).count == 1, "an old store would get it from a new till")
    }

    @Test("A change of the line of a message breaks nothing")
    func line() throws {
        func contract(_ line: String?) throws -> AppContract {
            var contract = Shop.contract()
            let sold = MessageContract(type: Shop.sold, line: line)
            try contract.add(
                Document.ServiceContract(name: "store", version: "1", receives: [], sends: [sold]), as: "store")
            return contract
        }
        for (old, new, change) in [
            (nil, "sold", [#"event.Sold: line: new, "sold""#]), ("sold", nil, ["event.Sold: line: removed"]),
            ("sold", "a\n", [#"event.Sold: line: was "sold", is "a\n""#]), ("sold", "sold", []),
        ] as [(String?, String?, [String])] {
            let findings = ContractComparison(from: try contract(old), to: try contract(new)).findings
            #expect(findings.map(\.description) == change && findings.allSatisfy { !$0.isBreaking })
        }
    }

    @Test("A change that breaks nothing can be listed too, as new, removed or different")
    func notes() throws {
        var new = Shop.contract(
            buy: changed(changed(Shop.order, "note", to: nil), "size", to: .init(.string)), tillBuys: false)
        let returned = MessageType(kind: .command, name: "Return")
        try new.add(
            Document.ServiceContract(
                name: "store", version: "1.0.1", receives: [MessageContract(type: returned)], sends: []), as: "store")
        let findings = ContractComparison(from: Shop.contract(), to: new).findings
        #expect(findings.allSatisfy { !$0.isBreaking })
        #expect(
            findings.map(\.description) == [
                "command.Buy: data.note: removed",
                #"command.Buy: data.size: was one of "S", "M", is a string"#, "command.Return: new",
            ])
    }
}
