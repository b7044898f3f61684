// A plain Extism module without a development kit: Extism's functions as they are. Its exports are those of the other languages beside it.
#[link(wasm_import_module = "extism:host/env")]
extern "C" {
    fn alloc(n: u64) -> u64;
    fn free(at: u64);
    fn length(at: u64) -> u64;
    fn load_u8(at: u64) -> u32;
    fn store_u8(at: u64, v: u32);
    fn input_length() -> u64;
    fn input_load_u8(at: u64) -> u32;
    fn output_set(at: u64, n: u64);
    fn error_set(at: u64);
    fn config_get(key: u64) -> u64;
    fn var_get(key: u64) -> u64;
    fn var_set(key: u64, value: u64);
    fn log_debug(at: u64);
    fn log_info(at: u64);
    fn log_warn(at: u64);
    fn log_error(at: u64);
}

fn block(data: &[u8]) -> u64 {
    unsafe {
        let at = alloc(data.len() as u64);
        for (i, b) in data.iter().enumerate() {
            store_u8(at + i as u64, *b as u32);
        }
        at
    }
}

fn read(at: u64) -> Option<Vec<u8>> {
    if at == 0 {
        return None;
    }
    unsafe { Some((0..length(at)).map(|i| load_u8(at + i) as u8).collect()) }
}

fn input() -> Vec<u8> {
    unsafe { (0..input_length()).map(|i| input_load_u8(i) as u8).collect() }
}

fn text() -> String {
    String::from_utf8_lossy(&input()).into_owned()
}

fn output(data: &[u8]) -> i32 {
    unsafe { output_set(block(data), data.len() as u64) };
    0
}

fn get(key: &str) -> Option<String> {
    read(unsafe { var_get(block(key.as_bytes())) }).map(|v| String::from_utf8_lossy(&v).into_owned())
}

fn set(key: &str, value: &str) {
    unsafe { var_set(block(key.as_bytes()), block(value.as_bytes())) }
}

#[no_mangle]
pub extern "C" fn echo() -> i32 {
    let at = block(&input());
    let out = read(at).unwrap_or_default();
    unsafe { free(at) };
    output(&out)
}

#[no_mangle]
pub extern "C" fn settings() -> i32 {
    let lines: Vec<String> = text().split('\n').map(|k| format!("{}={:?}", k, read(unsafe { config_get(block(k.as_bytes())) }))).collect();
    output(lines.join("\n").as_bytes())
}

#[no_mangle]
pub extern "C" fn counter() -> i32 {
    let n = get("n").and_then(|v| v.parse::<i32>().ok()).unwrap_or(0) + 1;
    set("n", &n.to_string());
    let last = get("last");
    set("last", &text());
    output(format!("{} {:?}", n, last).as_bytes())
}

#[no_mangle]
pub extern "C" fn forget() -> i32 {
    unsafe {
        var_set(block(b"n"), 0);
        var_set(block(b"never set"), 0);
    }
    output(get("n").is_none().to_string().as_bytes())
}

#[no_mangle]
pub extern "C" fn logs() -> i32 {
    unsafe {
        log_debug(block(format!("debug {}", text()).as_bytes()));
        log_info(block(b"info"));
        log_warn(block("warn é😀".as_bytes()));
        log_error(block(b"error"));
    }
    output(b"logged")
}

#[no_mangle]
pub extern "C" fn fails() -> i32 {
    let said = input();
    if said.is_empty() {
        return 3;
    }
    output(b"an output that must not count");
    unsafe { error_set(block(&said)) };
    0
}

#[no_mangle]
pub extern "C" fn bytes() -> i32 {
    let mut turned = input();
    turned.reverse();
    turned.push(b'!');
    output(&turned)
}
