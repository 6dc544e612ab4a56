/// A message as a subscriber saw it.
package struct Delivery: Hashable, Sendable {
    package let offset: UInt64
    package let stream: String
    package let value: Value

    package init(offset: UInt64, stream: String, value: Value) {
        self.offset = offset
        self.stream = stream
        self.value = value
    }
}
