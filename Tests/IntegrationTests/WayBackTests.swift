import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import TestSupport
import Testing

extension Command {
    fileprivate struct RoomChosen: CommandMessage {
        var room: Int
    }

    fileprivate struct RoomLeft: CommandMessage {
        var room: Int
    }

    fileprivate struct Paid: CommandMessage {}
}

@Suite("The way back with real processes", .timeLimit(.minutes(3)))
struct WayBackTests {
    private static let flow = """
        name: hotel
        version: 1
        platform: ios
        start: rooms
        screens:
          rooms: { title: Rooms, sends: [command.RoomChosen] }
          room: { title: Room, sends: [command.PaymentWanted] }
          payment: { title: Payment, back: false, sends: [command.Paid] }
        transitions:
          - on: command.RoomChosen
            do: [{ push: { screen: room, arguments: { room: "${data.room}" } } }]
          - { on: command.PaymentWanted, do: [{ push: payment }] }
          - { on: command.Paid, do: [{ popTo: room }] }
          - on: user.wentBack
            where: { screen: room }
            do: [{ send: { type: command.RoomLeft, data: { room: "${sender.room}" } } }]
        """

    @Test("A screen with 'back: false' has no way back; going back from another one is answered once")
    func back() async throws {
        try await TestStack.with(flow: Self.flow) { stack, shell in
            let phone = Origin(platform: "ios", device: "phone")
            try await stack.bus.send(Command.RoomChosen(room: 7), origin: phone)
            let room = try await stack.screen("room", on: "ios").state.top.id

            let lines = ["PaymentWanted", "@payment", "q"].joined(separator: "' '")
            let device = try await shell.shell("printf '%s\\n' '\(lines)' | device --flow flow.yaml")
            #expect(device.status == 0, "\(device.error)")
            let screens = device.output.components(separatedBy: "> PaymentWanted")
            #expect(screens[0].contains("b back"))
            #expect(screens.last?.contains("Payment") == true && screens.last?.contains("b back") == false)

            let payment = try await stack.screen("payment", on: "ios")
            #expect(payment.withoutBack == [room, payment.state.top.id])
            let swipe = try await stack.bus.send(
                Command.BackCompleted(instance: payment.state.top.id), origin: phone, lifetime: nil)
            try await stack.message(DomainEvent.MessageDiscarded.self) {
                $0.messageID == swipe.id
                    && $0.reason.contains("the user cannot go back from screen instance '\(payment.state.top.id)'")
            }

            try await stack.bus.send(Command.Paid(), origin: phone)
            #expect(try await stack.screen("room", on: "ios").withoutBack.isEmpty)
            // The report of the swipe comes twice, the second time to a coordinator that has restarted.
            try await stack.bus.send(Command.BackCompleted(instance: room), origin: phone, lifetime: nil)
            try await stack.screen("rooms", on: "ios")
            try await stack.killAndRestart("ios-coordinator")
            try await stack.bus.send(Command.BackCompleted(instance: room), origin: phone, lifetime: nil)
            try await stack.bus.send(Command.RoomChosen(room: 8), origin: phone)
            try await stack.screen("room", on: "ios")
            let left = try stack.messages.filter { $0.type == Command.RoomLeft.type }
                .map { try $0.decode(Command.RoomLeft.self).room }
            #expect(left == [7])
        }
    }
}
