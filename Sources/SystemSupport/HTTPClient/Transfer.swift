internal import CCurl
internal import Foundation
internal import HTTPTypes
internal import Support

/// A request, and the caller that waits for the response.
struct TransferOrder: Sendable {
    let id: UInt64
    let request: HTTPClient.Request
    let deadline: Duration
    let maximumBody: Int
    let continuation: CheckedContinuation<HTTPClient.Response, any Error>
}

/// One exchange under way, on the thread of its `TransferThread`.
final class Transfer {
    /// The maximum size of the response's header in bytes. A larger header ends the exchange.
    private static let maximumHeader = 64 << 10
    /// Methods that change nothing (RFC 9110 §9.2.1). PUT and DELETE are idempotent, but the answer to the second
    /// request can be a refusal although the first one had its effect.
    private static let safeMethods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]

    private let order: TransferOrder
    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer
    private var requestHeaders: UnsafeMutablePointer<curl_slist>?
    private var headers = HTTPFields()
    private var headerSize = 0
    private var body = Data()
    private var isTooLong = false

    /// Begins the exchange. If this fails, it resumes the caller with an error and returns nil.
    init?(_ order: TransferOrder, authorities: String?, multi: UnsafeMutableRawPointer) {
        guard let easy = curl_easy_init() else {
            order.continuation.resume(throwing: HTTPClient.Failure.unusable)
            return nil
        }
        self.order = order
        self.multi = multi
        self.easy = easy
        let result = configure(authorities: authorities)
        guard result == CURLE_OK else {
            order.continuation.resume(throwing: HTTPClient.Failure(result))
            return nil
        }
        guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
            order.continuation.resume(throwing: HTTPClient.Failure.unusable)
            return nil
        }
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        curl_slist_free_all(requestHeaders)
    }

    func owns(_ handle: UnsafeMutableRawPointer?) -> Bool {
        handle == easy
    }

    func end(throwing error: any Error) {
        order.continuation.resume(throwing: error)
    }

    func end(with result: CURLcode) {
        var status = 0
        segue_curl_get_number(easy, CURLINFO_RESPONSE_CODE, &status)
        if isTooLong {
            end(throwing: HTTPClient.Failure(code: .tooLong, description: "the answer is too long"))
        } else if result != CURLE_OK {
            end(throwing: HTTPClient.Failure(result))
        } else if (200...999).contains(status) {
            order.continuation.resume(
                returning: HTTPClient.Response(status: .init(code: status), headers: headers, body: body))
        } else {
            end(throwing: HTTPClient.Failure.notHTTP)
        }
    }

    /// True if a request with this method may be sent twice. When the server has closed a kept connection, libcurl
    /// sends the request again, whatever its method is.
    private static func mayUseKeptConnection(_ method: HTTPRequest.Method) -> Bool {
        safeMethods.contains(method)
    }

    private func configure(authorities: String?) -> CURLcode {
        let request = order.request
        // libcurl supports other schemes, and guesses a scheme if the URL has none.
        let scheme = request.url.cut(at: ":")?.before.lowercased()
        guard scheme == "http" || scheme == "https" else { return CURLE_URL_MALFORMAT }
        for field in request.headers {
            // libcurl's notation for a header without a value is `Name;`.
            requestHeaders = curl_slist_append(requestHeaders, field.value.isEmpty ? "\(field.name);" : "\(field)")
        }
        // By default, libcurl adds a content type, and waits for the answer `100 Continue` up to a second before it
        // sends a long body.
        if request.headers[.contentType] == nil { requestHeaders = curl_slist_append(requestHeaders, "Content-Type:") }
        requestHeaders = curl_slist_append(requestHeaders, "Expect:")

        var result = CURLE_OK
        func set(_ option: CURLoption, _ value: Int) {
            if result == CURLE_OK { result = segue_curl_set_number(easy, option, value) }
        }
        func set(_ option: CURLoption, _ text: String) {
            if result == CURLE_OK { result = segue_curl_set_text(easy, option, text) }
        }
        func set(_ option: CURLoption, _ pointer: UnsafeMutableRawPointer?) {
            if result == CURLE_OK { result = segue_curl_set_pointer(easy, option, pointer) }
        }
        func set(_ option: CURLoption, _ receive: segue_curl_receive) {
            if result == CURLE_OK { result = segue_curl_set_receiver(easy, option, receive) }
        }

        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURLOPT_PROXY, "")
        // 0 would mean "no deadline".
        set(CURLOPT_TIMEOUT_MS, Int(max(1, min(order.deadline / .milliseconds(1), 1e9))))
        // libcurl must not use signals, because they belong to the whole process.
        set(CURLOPT_NOSIGNAL, 1)
        // Without this option, ending one transfer waits for the look-up of its host's name and so delays all other
        // transfers.
        set(CURLOPT_QUICK_EXIT, 1)
        if let authorities {
            set(CURLOPT_CAINFO, authorities)
            set(CURLOPT_CAPATH, nil)
        }
        if !Self.mayUseKeptConnection(request.method) { set(CURLOPT_FRESH_CONNECT, 1) }

        if let body = request.body {
            set(CURLOPT_POSTFIELDSIZE, body.count)
            // An empty body needs a pointer, too.
            var bytes = Array(body) + [0]
            set(CURLOPT_COPYPOSTFIELDS, &bytes)
        }
        if request.method == .head { set(CURLOPT_NOBODY, 1) }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(requestHeaders))

        // libcurl calls back on the thread that owns this object.
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_HEADERDATA, context)
        set(CURLOPT_WRITEDATA, context)
        set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            Transfer.received(bytes, count: size * count, context: context) { $0.receiveHeader($1) }
        }
        set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            Transfer.received(bytes, count: size * count, context: context) { $0.receiveBody($1) }
        }
        return result
    }

    /// - Returns: The number of bytes that were accepted. If it is less than `count`, libcurl ends the exchange.
    private static func received(
        _ bytes: UnsafeMutablePointer<CChar>?, count: Int, context: UnsafeMutableRawPointer?,
        _ receive: (Transfer, Data) -> Bool
    ) -> Int {
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard receive(transfer, Data(bytes: bytes, count: count)) else {
            transfer.isTooLong = true
            return 0
        }
        return count
    }

    private func receiveHeader(_ line: Data) -> Bool {
        headerSize += line.count
        guard headerSize <= Self.maximumHeader else { return false }
        let text = String(decoding: line, as: UTF8.self)
        if text.begins(with: "HTTP/") {
            // The final response may follow interim ones, such as `100 Continue`. Only its headers are kept.
            headers = HTTPFields()
        } else if let (before, after) = text.cut(at: ":"), let name = HTTPField.Name(String(before)) {
            headers.append(HTTPField(name: name, value: String(after.trimmed)))
        }
        return true
    }

    private func receiveBody(_ part: Data) -> Bool {
        guard body.count + part.count <= order.maximumBody else { return false }
        body.append(part)
        return true
    }
}

extension HTTPClient.Failure {
    static let closed = Self(code: .closed, description: "the client was closed")
    /// The failure of an exchange that takes longer than the request allows.
    package static let deadline = Self(code: .deadline, description: "no answer in time")
    static let unusable = Self(code: .broken, description: "libcurl failed; the machine may be out of memory")
    fileprivate static let notHTTP = Self(code: .broken, description: "the answer is not HTTP")

    fileprivate init(_ result: CURLcode) {
        switch result {
        case CURLE_URL_MALFORMAT:
            self.init(code: .url, description: "the URL is not a valid http or https URL")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT:
            self.init(code: .noConnection, description: "no connection")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE:
            self.init(code: .certificate, description: "the server's certificate cannot be verified")
        case CURLE_OPERATION_TIMEDOUT:
            self = .deadline
        case CURLE_UNSUPPORTED_PROTOCOL:
            self = .notHTTP
        default:
            // libcurl's description of the code, which contains nothing of the request.
            self.init(code: .broken, description: String(cString: curl_easy_strerror(result)))
        }
    }
}
