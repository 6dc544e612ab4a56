import EventBus
import Foundation
import Navigation
import Support
import Testing

@testable import Contracts

@Suite("Expired commands")
struct ExpiredCommandTests {
    private func command(_ message: some CommandMessage, subject: String = "alice") throws -> Envelope {
        try Envelope(
            message, source: "device/1", subject: subject,
            origin: Origin(platform: "ios", device: "phone", instance: "list-3"))
    }

    @Test("An expired command is discarded with a report, and its session gets an error")
    func results() throws {
        let command = try command(Command.NavigationRequested(action: [:]))
        let results = try command.expired(source: "shop/1")
        try #require(results.count == 2)
        let discarded = try results[0].decode(DomainEvent.MessageDiscarded.self)
        #expect(discarded.messageID == command.id && discarded.reason == "expired")
        let error = try results[1].decode(ApplicationError.self)
        #expect(error.code == "command.expired" && error.severity == .warning)
        #expect(error.message == "'NavigationRequested' came too late and was not carried out")
        #expect(error.recovery == "try again")
        for result in results {
            #expect(result.subject == "alice" && result.attributes.source == "shop/1")
            #expect(result.attributes.causationID == command.id && result.attributes.correlationID == command.id)
            #expect(result.attributes.platform == "ios" && result.attributes.device == "phone")
        }
    }

    @Test("An expired command causes one error, however many consumers report it")
    func oneError() throws {
        let (first, second) = (
            try command(Command.DataDispatched(name: "n", data: [:])),
            try command(Command.DataDispatched(name: "n", data: [:]))
        )
        let ids = try [first, first, second].enumerated().map { index, command in
            try #require(try command.expiryError(source: "service-\(index)/1")).id
        }
        #expect(ids[0] == ids[1] && ids[0] != ids[2])
        #expect(!DerivedID.isDerived(ids[0], from: first.id))
        let error = try #require(try first.expiryError(source: "shop/1"))
        #expect(error.isExpiryError && !first.isExpiryError)
    }

    @Test("An expired command with a long id causes an error with a valid id")
    func longID() throws {
        var command = try command(Command.DataDispatched(name: "n", data: [:]))
        command.attributes.id = String(repeating: "é", count: 20_000)
        let error = try #require(try command.expiryError(source: "shop/1"))
        #expect(error.id.utf8.count <= 255)
        #expect(throws: Never.self) { try Rules.check(error.attributes) }
    }

    @Test(
        "An expired report of a view causes no error, and neither does a late dismissal",
        arguments: ViewReport.allCases.map(\.rawValue) + ["command.ErrorDismissed", "event.LaunchFinished"])
    func reports(name: String) throws {
        let type = try #require(MessageType(name))
        let report = Envelope(attributes: Attributes(type: type, source: "device/1"), data: Data("{}".utf8))
        #expect(try report.expiryError(source: "shop/1") == nil)
        #expect(try report.expired(source: "shop/1").map(\.type) == [DomainEvent.MessageDiscarded.type])
    }
}
