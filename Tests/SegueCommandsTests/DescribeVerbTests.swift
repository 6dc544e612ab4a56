import CommandLineTestSupport
import Contracts
import EventBus
import Testing

@Suite("'segue describe'", .timeLimit(.minutes(1)))
struct DescribeVerbTests {
    @Test("'segue describe' prints the fields, senders, receivers and last message of a type")
    func describe() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                try await bus.publish(ContractShop.store())
                for (name, instance) in [("navigation-coordinator", "c1"), ("navigation-coordinator", "c2")] {
                    try await bus.publish(
                        Document.Presence(
                            name: name, version: "1", instance: instance, pid: 1, receives: ["event.Sold"],
                            sends: ["command.Buy"]))
                }
                let flow = Document.Flow(platform: "ios", name: "shop", version: 1, hash: "h", source: "")
                var message = try Envelope(flow, source: "navigation-coordinator/c1")
                message.attributes.key = "ios"
                try await bus.publish(Batch([message]))
                let none = try await segue("describe", "command.Buy")
                #expect(
                    none.lines == [
                        "command.Buy", "fields       item: a string",
                        #"             size: one of "S", "M", optional"#,
                        "sent by      navigation-coordinator, navigation-coordinator (ios)", "received by  store",
                        "last         none in the journal",
                    ], "\(none.output) \(none.error)")
                try await segue("send", "command.Buy", #"{"item": "hat"}"#)
                let last = try await segue("describe", "command.Buy")
                #expect(last.lines.last?.hasSuffix(#" → {"item":"hat"}"#) == true, "\(last.output)")
                let json = try await segue("describe", "command.Buy", "--json")
                #expect(json.output.contains(#""receivers":["store"]"#), "\(json.output)")
                let query = try await segue("describe", "query.Price")
                #expect(
                    query.lines == [
                        "query.Price", "fields       item: a string", "answer       cents: a whole number",
                        "sent by      no process", "received by  store",
                    ], "\(query.output)")
                let services = try await segue("services")
                #expect(services.output.contains("navigation-coordinator (ios) 1"), "\(services.output)")
                let unknown = try await segue("describe", "command.Bye")
                #expect(unknown.status == 1)
                #expect(
                    unknown.error
                        == "segue: no process on this bus knows command.Bye, and its journal has none; "
                        + "did you mean command.Buy?\n")
            }
        }
    }

    @Test("'segue monitor' reports a type that no process knows, and a field that the selected types lack")
    func monitor() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                try await bus.publish(ContractShop.store())
                let field = "segue: the selected messages have no field data.itm; did you mean item?\n"
                for (arguments, line) in [
                    (
                        ["--type", "event.Slod"],
                        "segue: no process on the bus knows event.Slod; did you mean event.Sold?\n"
                    ),
                    (["--type", "event.Sold"], ""), (["--type", "event.*"], ""),
                    (["--type", "command.Buy", "--where", "not (data.itm == 1)"], field),
                    (["--type", "command.Buy", "--field", "data.itm"], field),
                    (["--type", "command.Buy", "--where", "data.item == data.size"], ""),
                    (["--where", "data.anything == 1"], ""),
                ] {
                    let result = try await segue.run(["monitor", "--until", "end"] + arguments)
                    #expect(result.status == 0 && result.error == line, "\(arguments) \(result.error)")
                }
            }
        }
    }
}
