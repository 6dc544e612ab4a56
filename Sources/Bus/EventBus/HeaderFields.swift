/// The texts of a header that are known; others are ignored.
struct HeaderFields {
    private(set) var specVersion: String?
    private(set) var id: String?
    private(set) var source: String?
    private(set) var type: String?
    private(set) var subject: String?
    private(set) var time: String?
    private(set) var correlationID: String?
    private(set) var causationID: String?
    private(set) var traceparent: String?
    private(set) var expiryTime: String?
    private(set) var platform: String?
    private(set) var device: String?
    private(set) var instance: String?
    private(set) var key: String?
    private(set) var recipient: String?

    mutating func set(_ name: String, to text: String) {
        switch name {
        case "specversion": specVersion = text
        case "id": id = text
        case "source": source = text
        case "type": type = text
        case "subject": subject = text
        case "time": time = text
        case "correlationid": correlationID = text
        case "causationid": causationID = text
        case "traceparent": traceparent = text
        case "expirytime": expiryTime = text
        case "platform": platform = text
        case "device": device = text
        case "instance": instance = text
        case "key": key = text
        case "recipient": recipient = text
        default: break
        }
    }
}
