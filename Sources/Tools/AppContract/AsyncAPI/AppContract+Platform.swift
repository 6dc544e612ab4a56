internal import Contracts
internal import EventBus
internal import Navigation

extension AppContract {
    /// Where messages travel.
    static let bus: JSONValue = [
        "host": "{bus}", "protocol": "segue",
        "description": "The broker; docs/wire-protocol.md says how to talk to it.",
        "variables": ["bus": ["description": "Its address, as in SEGUE_BUS: ipc://DIR or tcp://HOST:PORT."]],
    ]

    static let partition: JSONValue = [
        "description": "The hash of the session, 00 to 3f; messages of one session keep their order."
    ]

    /// What every message says about itself.
    static let cloudEvent: JSONValue = [
        "contentType": "application/json",
        "headers": Attributes.schema.json,
        "correlationId": ["location": "$message.header#/correlationid"],
    ]
}
