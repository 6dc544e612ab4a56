import Consuming
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Testing

extension Command {
    struct ParkingPaid: CommandMessage { var minutes: Int }
    /// The service sends this command to itself when the time is over.
    struct ParkingElapsed: CommandMessage { var end: Date }
}

extension DomainEvent { struct ParkingEnded: EventMessage {} }
extension Document { struct Parking: DocumentMessage { var end: Date } }

/// The service that counts the time. The bus keeps the document and the command, so a kill loses neither.
let parkingMeter = Handlers("parking-meter")
    .on(Command.ParkingPaid.self, sends: Document.Parking.self, Command.ParkingElapsed.self) { paid, context in
        guard (1...240).contains(paid.minutes) else {
            throw ApplicationError(
                code: "parking.minutes", message: "\(paid.minutes) minutes are not possible.",
                recovery: "Choose 1 to 240 minutes.")
        }
        let end = context.time + .seconds(60 * paid.minutes)
        return [Document.Parking(end: end), .later(Command.ParkingElapsed(end: end), at: end)]
    }
    .on(Command.ParkingElapsed.self, sends: Document.Parking.self, DomainEvent.ParkingEnded.self) { elapsed, context in
        // The driver may have paid again just before.
        guard try await context.document(Document.Parking.self)?.end == elapsed.end else { return [] }
        return [.withdrawn(Document.Parking.self), DomainEvent.ParkingEnded()]
    }

func parkingFlow() throws -> Flow {
    try Flow("parking", version: 1, platform: "meter", start: "prices") {
        Flow.Screen("prices", sends: ["command.ParkingPaid"])
        Flow.Screen("parked", sends: ["command.ParkingPaid"])
        Flow.Screen("ended")
        Flow.Transition(on: "document.Parking", unless: [.shown("parked")], do: [.push("parked")])
        Flow.Transition(on: "event.ParkingEnded", do: [.popToRoot, .push("ended")])
    }
}

@Test("The time ends after what was paid last")
func parking() async throws {
    let app = try await TestApp(flow: parkingFlow(), parkingMeter)
    try await app.send(Command.ParkingPaid(minutes: 60))
    try await app.advance(by: .seconds(600))
    try await app.send(Command.ParkingPaid(minutes: 60))
    try await app.advance(by: .seconds(3599))
    #expect(try await app.screen == "parked")
    try await app.advance(by: .seconds(1))
    #expect(try await app.screen == "ended")
}
