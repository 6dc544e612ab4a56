internal import EventBus

/// The message that is sent out.
struct BenchmarkRequest: CommandMessage {
    let number: Int
    let padding: String

    init(number: Int) {
        self.number = number
        padding = Payload.padding
    }
}
