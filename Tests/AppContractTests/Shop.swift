import AppContract
import Contracts
import EventBus
import Navigation
import Support
import Testing

/// The contract of a small app: a till that buys from a store.
enum Shop {
    static let buy = MessageType(kind: .command, name: "Buy")
    static let sold = MessageType(kind: .event, name: "Sold")
    static let price = MessageType(kind: .query, name: "Price")

    static let order = JSONSchema.object([
        "item": .init(.string), "size": .init(.enumeration(["S", "M"])), "note": .init(.string, isRequired: false),
    ])
    static let receipt = JSONSchema.object(["items": .init(.array(.object(["name": .init(.string)])))])
    static let tag = JSONSchema.object(["cents": .init(.integer)])

    /// The contract of the app. A schema is nil for a message that the contract does not have.
    static func contract(
        buy order: JSONSchema? = order, sold receipt: JSONSchema? = receipt, answer tag: JSONSchema = tag,
        asked question: JSONSchema = .object([:]), tillReads: Bool = true, tillBuys: Bool = true
    ) -> AppContract {
        let buy = order.map { MessageContract(type: Self.buy, data: $0) }
        let sold = receipt.map { MessageContract(type: Self.sold, data: $0) }
        let price = MessageContract(type: Self.price, data: question, answer: tag)
        var contract = AppContract(title: "shop", version: "1.0.0")
        let store = Document.ServiceContract(
            name: "store", version: "1.0.0", receives: [buy, price].compactMap(\.self),
            sends: [sold].compactMap(\.self))
        let till = Document.ServiceContract(
            name: "till", version: "1.0.0", receives: (tillReads ? [sold] : []).compactMap(\.self),
            sends: (tillBuys ? [buy] : []).compactMap(\.self) + [price])
        do {
            for service in [store, till] { try contract.add(service, as: service.name) }
        } catch {
            Issue.record(error)
        }
        return contract
    }
}
