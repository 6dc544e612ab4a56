import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import Support

/// A small app whose programs only print their contracts: a store that sells, and a till that buys.
enum ContractShop {
    static let buy = MessageType(kind: .command, name: "Buy")
    static let sold = MessageType(kind: .event, name: "Sold")
    static let price = MessageType(kind: .query, name: "Price")
    static let order = JSONSchema.object([
        "item": .init(.string), "size": .init(.enumeration(["S", "M"]), isRequired: false),
    ])

    static let compose = """
        name: demo
        x-clients: [./till --fast]
        services:
          store: {command: ./store}
          broker: {command: broker, healthcheck: {test: [NOTIFY]}}
          database: {command: sleep 600, labels: {segue.contract: none}}
        """

    static func store(_ order: JSONSchema = order) -> Document.ServiceContract {
        let question = JSONSchema.object(["item": .init(.string)])
        return Document.ServiceContract(
            name: "store", version: "1.0.0", instance: "s1",
            receives: [
                MessageContract(type: buy, data: order),
                MessageContract(type: price, data: question, answer: .object(["cents": .init(.integer)])),
            ], sends: [MessageContract(type: sold, data: .object([:]))])
    }

    static let till = Document.ServiceContract(
        name: "till", version: "1.0.0", receives: [MessageContract(type: sold)], sends: [MessageContract(type: buy)])

    /// Writes the app's files.
    static func write(_ segue: SegueCommandLine, order: JSONSchema = order) throws {
        try segue.write(compose)
        try write(store(order), as: "store", segue)
        try write(till, as: "till", segue)
    }

    /// Writes a program that prints a contract for `--contract`, and fails if `SEGUE_BUS` is set.
    static func write(_ contract: Document.ServiceContract, as name: String, _ segue: SegueCommandLine) throws {
        let json = String(decoding: try JSONEncoder().encode(contract), as: UTF8.self)
        try write(
            "case \"$* ${SEGUE_BUS-none}\" in *'--contract none') echo '\(json)';; *) exit 9;; esac", as: name, segue)
    }

    static func write(_ script: String, as name: String, _ segue: SegueCommandLine) throws {
        try segue.write("#!/bin/sh\n\(script)\n", to: name)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700], ofItemAtPath: "\(segue.directory)/\(name)")
    }
}
