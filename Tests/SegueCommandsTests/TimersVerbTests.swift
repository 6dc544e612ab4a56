import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("'segue timers'", .timeLimit(.minutes(1)))
struct TimersVerbTests {
    @Test("'segue timers' lists the scheduled commands of services, the next one first")
    func lists() async throws {
        try await SegueCommandLine.onBus { segue in
            let none = try await segue("timers")
            #expect(none.status == 0 && none.output.isEmpty && none.error.contains("no command is to be sent later"))
            try await segue.withConnection { bus in
                for (session, minutes) in [("anna", 5.0), ("bert", 1)] {
                    let content = Document.ScheduledCommand.Content(
                        type: Command.ErrorDismissed.type, data: ["errorID": "\u{1b}[31m"])
                    let timer = Document.ScheduledCommand(
                        at: Date(timeIntervalSince1970: 60 * minutes), command: content, consumer: "brewer",
                        id: "tea\u{1b}")
                    try await bus.publish(timer, subject: session)
                }
            }
            try await segue("send", "document.ScheduledCommand", "{}", "--key", "strange")
            let table = try await segue("timers", "--utc")
            #expect(table.error.contains("document.ScheduledCommand"), "what cannot be read is reported")
            #expect(
                table.lines == [
                    "TIME                      SESSION  COMMAND                 SERVICE  ID",
                    "1970-01-01T00:01:00.000Z  bert     command.ErrorDismissed  brewer   tea\\u001b",
                    "1970-01-01T00:05:00.000Z  anna     command.ErrorDismissed  brewer   tea\\u001b",
                ])
            let json = try await segue("timers", "--json", "--session", "anna")
            #expect(
                json.lines == [
                    #"{"at":"1970-01-01T00:05:00.000Z","command":{"data":{"errorID":"\u001b[31m"},"#
                        + #""type":"command.ErrorDismissed"},"consumer":"brewer","id":"tea\u001b","session":"anna"}"#
                ])
        }
    }
}
