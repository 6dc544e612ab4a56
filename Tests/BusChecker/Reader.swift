/// One incarnation of a subscriber that read from the journal's beginning.
package struct Reader: Sendable {
    package let name: String
    /// In the order in which they came.
    package var deliveries: [Delivery]
    /// Whether it lived until all was delivered; what was killed has seen a beginning only.
    package var isComplete: Bool

    package init(name: String, deliveries: [Delivery], isComplete: Bool) {
        self.name = name
        self.deliveries = deliveries
        self.isComplete = isComplete
    }
}
