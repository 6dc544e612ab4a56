import EventBus

struct Noted: EventMessage {
    var text: String
}

extension EventBus {
    func note(_ text: String) throws -> Envelope {
        try Envelope(Noted(text: text), source: source)
    }
}
