import Consuming
import Contracts
import EventBus
import Navigation
import SegueTestSupport
import Testing

extension Command { struct PinEntered: CommandMessage { var pin: String } }
extension DomainEvent { struct VisitorAdmitted: EventMessage {} }

func museumFlow() throws -> Flow {
    try Flow("museum", version: 1, platform: "kiosk", start: "logIn") {
        Flow.Screen("logIn", sends: ["command.PinEntered"])
        Flow.Screen("rooms")
        Flow.Screen("painting")
        Flow.Transition(on: "event.VisitorAdmitted", do: [.setRoot("rooms")])
        // Until 'rooms' is the root, the link waits, at most ten minutes.
        Flow.Link(
            "museum://painting/{number}", when: [.root("rooms")],
            to: .init(root: "rooms", path: [.screen("painting", ["number": "${url.number}"])]))
    }
}

let doorkeeper = Handlers("doorkeeper")
    .on(Command.PinEntered.self, sends: DomainEvent.VisitorAdmitted.self) { command, _ in
        guard command.pin == "1234" else {
            throw ApplicationError(code: "pin.wrong", message: "The PIN is wrong.", recovery: "Enter it again.")
        }
        return [DomainEvent.VisitorAdmitted()]
    }

@Test("A link that comes before the log-in is followed after it")
func painting() async throws {
    let app = try await TestApp(flow: museumFlow(), doorkeeper)
    try await app.publish(DomainEvent.DeepLinkReceived(url: "museum://painting/42"))
    try await app.send(Command.PinEntered(pin: "0000"))
    #expect(try await app.screen == "logIn")
    try await app.send(Command.PinEntered(pin: "1234"))
    #expect(try await app.screen == "painting(number: 42)")
}
