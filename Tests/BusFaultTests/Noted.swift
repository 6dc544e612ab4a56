import EventBus

struct Noted: EventMessage {
    var text: String
}
