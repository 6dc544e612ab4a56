import Consuming
import Contracts
import EventBus
import Navigation
import SegueTestSupport
import Testing

extension Command { struct ParcelKept: CommandMessage { var parcel: String } }
extension DomainEvent {
    struct CourierMissed: EventMessage {
        var parcel: String
        var street: String
    }
    struct ParcelStored: EventMessage { var parcel: String }
}

func parcelFlow() throws -> Flow {
    try Flow("parcels", version: 1, platform: "phone", start: "parcels") {
        Flow.Screen("parcels")
        Flow.Screen("missed")
        Flow.Screen("stored")
        Flow.Transition(
            on: "event.CourierMissed",
            do: [
                .present(
                    "missed", as: .alert,
                    options: PresentationOptions(
                        title: "Nobody was at home", message: "Parcel ${data.parcel} was brought to ${data.street}.",
                        buttons: [
                            AlertButton(
                                id: "keep", title: "Keep it", sends: "command.ParcelKept",
                                data: ["parcel": "${data.parcel}"]),
                            AlertButton(id: "fetch", title: "I fetch it", role: .cancel),
                        ]))
            ])
        Flow.Transition(on: "event.ParcelStored", do: [.push(.screen("stored", ["parcel": "${data.parcel}"]))])
    }
}

let parcelShop = Handlers("parcel-shop")
    .on(Command.ParcelKept.self, sends: DomainEvent.ParcelStored.self) { command, _ in
        [DomainEvent.ParcelStored(parcel: command.parcel)]
    }

@Test("A button of the alert sends the number of its parcel")
func parcel() async throws {
    let app = try await TestApp(flow: parcelFlow(), parcelShop)
    try await app.publish(DomainEvent.CourierMissed(parcel: "P7", street: "12 High Street"))
    let alert = try await app.state(of: "phone").top
    #expect(alert.screen == "missed")
    try await app.send(
        Command.AlertAnswered(instance: alert.id, button: "keep"),
        origin: Origin(platform: "phone", instance: alert.id))
    #expect(try await app.screen == "stored(parcel: P7)")
}
