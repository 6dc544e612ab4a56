public import EventBus

extension [any Message.Type] {
    /// Their types on the wire, in this order.
    public var types: [MessageType] { map { $0.type } }
}
