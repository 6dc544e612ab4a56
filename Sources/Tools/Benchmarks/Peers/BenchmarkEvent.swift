internal import EventBus

/// The message that comes back, and the one that is published in numbers.
struct BenchmarkEvent: EventMessage {
    let number: Int
    let padding: String

    init(number: Int) {
        self.number = number
        padding = Payload.padding
    }
}
