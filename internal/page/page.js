// The page works without this script: words are a form, changes are links. With it the answer follows while something is
// dragged, and only what differs is replaced.
(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('js');
  const $ = (s, at = document) => at.querySelector(s);
  const all = (s, at = document) => [...at.querySelectorAll(s)];

  // theme: the system's, unless somebody chose
  const theme = localStorage.getItem('theme');
  if (theme) root.dataset.theme = theme;
  const dark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light')) === 'dark';
  const turn = () => { root.dataset.theme = dark() ? 'light' : 'dark'; localStorage.setItem('theme', root.dataset.theme); };

  const tell = words => {
    $('#told')?.remove();
    const p = document.createElement('p');
    p.id = 'told';
    p.setAttribute('role', 'status');
    p.textContent = words;
    document.body.append(p);
    setTimeout(() => p.remove(), 1800);
  };

  // One question is under way at a time; of those that came meanwhile, the last is asked next.
  let busy = false, slow = false, swapping = false, under = '', next = null, stopper = null;
  const ask = (url, options) => {
    if (busy && url === under && options.pasted === undefined && !options.keep) return next = null;
    next = { url, ...options };
    if (!busy) go(); else if (slow) stopper.abort(); // a search that nobody waits for any more
  };
  // long work says how long it has been under way, and can be cancelled
  const working = () => {
    const began = performance.now(), box = document.createElement('p'), words = document.createElement('span'), end = document.createElement('button');
    const count = () => { words.textContent = `${root.classList.contains('wait') ? 'memwall is loading' : 'searching'}, ${Math.round((performance.now() - began) / 1000)} s`; };
    box.id = 'work';
    box.setAttribute('role', 'status');
    end.textContent = 'Cancel';
    end.onclick = () => stopper?.abort();
    box.append(words, end);
    let tick;
    const shown = setTimeout(() => { slow = true; count(); document.body.append(box); tick = setInterval(count, 1000); }, 500);
    return () => { clearTimeout(shown); clearInterval(tick); slow = false; box.remove(); };
  };
  // the page of an address: of the core in this browser, where the site brings one, else of the server
  const draw = async (url, pasted, signal, file) => {
    if (window.memwall) return window.memwall(url, pasted, signal, file);
    const r = await fetch(url, pasted === undefined ? { signal } : { signal, method: 'POST', body: new URLSearchParams({ text: pasted }) });
    return r.text();
  };
  // an address to share says what the answer is, so that the page can say what has moved when it is opened
  const shared = () => {
    const at = new URL(location), says = $('main').dataset.was;
    if (says) at.searchParams.set('was', says);
    return at.href;
  };
  // what is pasted or dropped: the core tells a config.json, a command and a log apart
  const take = (text, file) => {
    const to = $('nav a[data-paste]').getAttribute('href'), q = new URLSearchParams(to.split('?')[1]), on = $('#question [name="on"]')?.value;
    if (on) q.set('on', on);
    ask(to.split('?')[0] + '?' + q, { push: true, pasted: text, file });
  };
  const go = async () => {
    const { url, keep, push, pasted, file } = next;
    next = null;
    under = keep ? '' : url;
    busy = true;
    stopper = new AbortController();
    const { signal } = stopper, done = working(), at0 = document.activeElement, sent = { at: at0, value: at0?.value };
    const late = setTimeout(() => root.classList.add('late'), 150);
    try {
      const text = await draw(keep ? url + '&drag=1' : url, pasted, signal, file);
      const page = new DOMParser().parseFromString(text, 'text/html');
      const at = !keep && $('main', page).dataset.at || url;
      if (push && new URL(at, location).href !== location.href) history.pushState(null, '', at); else history.replaceState(null, '', at);
      document.title = page.title;
      swap(page, keep, sent);
    } catch (e) {
      console.info(String(e));
      if (!signal.aborted || !next) tell(signal.aborted ? 'Cancelled.' : `${window.memwall ? 'memwall failed in this browser' : 'The server does not answer'}; this is the last answer.`);
    }
    clearTimeout(late);
    done();
    root.classList.remove('late', 'wait');
    busy = false;
    if (next) go();
  };

  // swap replaces what differs. While something is dragged, only the answer and the pictures follow.
  const swap = (page, keep, sent) => {
    const old = $('main'), fresh = $('main', page);
    if (keep) {
      for (const id of ['answer', 'picture']) {
        const a = document.getElementById(id), b = page.getElementById(id);
        if (a && b) a.innerHTML = b.innerHTML;
      }
      return;
    }
    const focus = document.activeElement, typed = focus?.matches('.word') && focus.value !== focus.defaultValue && (focus !== sent.at || focus.value !== sent.value); // since the question went out
    const path = focus && (focus.id ? '#' + CSS.escape(focus.id) : focus.name ? `[name="${CSS.escape(focus.name)}"]` : focus.getAttribute('href') ? `a[href="${CSS.escape(focus.getAttribute('href'))}"]` : null);
    shut();
    swapping = true; // a word that is half typed has not changed when its form goes
    old.replaceWith(document.adoptNode(fresh));
    swapping = false;
    $('nav').innerHTML = $('nav', page).innerHTML;
    ready();
    const again = path && $(path);
    again?.focus({ preventScroll: true });
    if (!again || !typed) return;
    again.value = focus.value;
    if (again.dataset.offers) offer(again);
  };

  // url of what the form asks, with one field set
  const url = (key, value) => {
    return addressOf($('#question'), key, value);
  };
  const addressOf = (form, key, value) => {
    const q = new URLSearchParams();
    for (const [k, v] of new FormData(form)) if (v && k !== 'text') q.set(k, v);
    for (const b of new URLSearchParams(location.search).getAll('vs')) q.append('vs', b);
    if (key) q.set(key, value);
    q.sort();
    return new URL(form.action).pathname + '?' + q.toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
  };

  // a study that runs is asked for again, while somebody looks
  let follow = 0;
  const live = () => {
    clearTimeout(follow);
    if ('live' in $('main').dataset) follow = setTimeout(() => document.hidden ? live() : ask(location.href, {}), 2000);
  };

  // an example gives way to what is pasted
  document.addEventListener('focusin', e => { if (e.target.matches?.('textarea[data-example]')) e.target.select(); });

  // names are offered while one is typed, the likeliest first: arrows and Enter choose, or a click
  let typing = 0, turn0 = 0;
  const shut = () => {
    turn0++;
    $('#offers')?.remove();
    for (const w of all('[aria-expanded=true][data-offers]')) w.setAttribute('aria-expanded', 'false'), w.removeAttribute('aria-activedescendant');
  };
  const offer = async w => {
    shut();
    const mine = turn0, text = await draw(w.dataset.offers + '&q=' + encodeURIComponent(w.value)).catch(() => '');
    const list = $('#offers', new DOMParser().parseFromString(text, 'text/html')), at = w.getBoundingClientRect();
    if (mine !== turn0 || document.activeElement !== w || !list?.firstChild) return;
    $('main').append(document.adoptNode(list));
    list.style.top = `${at.bottom + scrollY}px`;
    list.style.left = `${Math.max(8, Math.min(at.left + scrollX, innerWidth - list.offsetWidth - 8))}px`;
    w.setAttribute('aria-controls', 'offers');
    w.setAttribute('aria-expanded', 'true');
  };
  const choose = (w, item) => {
    w.value = item.dataset.value;
    shut();
    w.focus();
    if (w.form.id === 'question') w.form.requestSubmit();
  };
  const walk = (w, by) => {
    const items = all('#offers li'), old = items.findIndex(i => i.ariaSelected === 'true');
    if (!items.length) return offer(w);
    items[old]?.removeAttribute('aria-selected');
    const item = items[(old + by + items.length + (old < 0 && by < 0 ? 1 : 0)) % items.length];
    item.setAttribute('aria-selected', 'true');
    w.setAttribute('aria-activedescendant', item.id);
  };
  document.addEventListener('input', e => { if (e.target.dataset.offers) clearTimeout(typing), typing = setTimeout(() => document.activeElement?.dataset.offers && offer(document.activeElement), 80); });
  document.addEventListener('focusout', e => { if (e.target.dataset?.offers) shut(); });
  document.addEventListener('pointerdown', e => {
    const item = e.target.closest?.('#offers li');
    if (item) e.preventDefault(), choose(document.activeElement, item);
  });
  // answered where the keys of names are taken: the rest of the page does not see them
  document.addEventListener('keydown', e => {
    const w = e.target, item = $('#offers [aria-selected=true]'), by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!w.dataset?.offers) return;
    if (by) walk(w, by);
    else if (e.key === 'Enter' && item) choose(w, item);
    else if (e.key === 'Escape' && $('#offers')) shut();
    else return e.key === 'Enter' && (clearTimeout(typing), shut());
    e.preventDefault();
    e.stopImmediatePropagation();
  });

  const stop = input => input.dataset.stops.split(',')[input.value];
  const ready = () => {
    live();
    for (const b of all('[hidden]:is(button)')) b.hidden = false;
    for (const s of all('.slide input')) s.disabled = false;
  };

  document.addEventListener('input', e => {
    const s = e.target;
    if ('filter' in s.dataset) {
      const words = s.value.toLowerCase().split(/\s+/);
      for (const row of all('main tbody tr, main table tr:not(:first-child)')) row.hidden = !words.every(w => row.textContent.toLowerCase().includes(w));
    }
    if (s.dataset.stops) {
      const n = stop(s), words = Number(n).toLocaleString('en-US');
      $('b', s.closest('div.slide').parentNode).textContent = words;
      s.setAttribute('aria-valuetext', words);
      const word = $(`#question [name="${s.dataset.key}"]`);
      if (word) word.value = n;
      ask(url(s.dataset.key, n), { keep: true });
    }
  });
  document.addEventListener('change', e => {
    const s = e.target;
    if (swapping) return;
    if (s.dataset.stops) ask(url(s.dataset.key, stop(s)), { push: true });
    else if (s.form?.id === 'question' && s.form.method === 'get' && url() !== location.pathname + location.search) ask(url(), { push: true });
  });
  document.addEventListener('submit', e => {
    if (!e.target.matches('#question, form.open')) return;
    e.preventDefault();
    ask(addressOf(e.target), { push: true, pasted: $('textarea', e.target)?.value });
  });
  document.addEventListener('paste', e => {
    const text = e.clipboardData.getData('text');
    if (!e.target.matches('input.word[name="m"]') || !/^\s*\{|\n/.test(text)) return;
    e.preventDefault();
    take(text);
  });
  document.addEventListener('dragover', e => e.preventDefault());
  document.addEventListener('drop', async e => {
    e.preventDefault();
    const file = e.dataTransfer.files[0], most = 1 << 20;
    if (!file) return;
    if (new Uint8Array(await file.slice(0, 1).arrayBuffer())[0] === 0x80) { // a pickle: a memory snapshot of PyTorch
      if (!window.memwall) return tell(`Not sent: memwall snapshot ${file.name} reads it in a terminal, and the static page reads it in the browser.`);
      if (file.size > 512 << 20) return tell(`Too large for a browser: memwall snapshot ${file.name} reads it in a terminal.`);
      return take('', new Uint8Array(await file.arrayBuffer()));
    }
    if (file.size > most) return tell('Files of up to 1 MB are read: drop config.json, not the weights.');
    take(await file.text());
  });
  document.addEventListener('click', async e => {
    const link = e.target.closest(window.memwall ? 'a[href^="?"]:not([download])' : 'a[data-live]');
    if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) {
      e.preventDefault();
      return ask(link.getAttribute('href'), { push: true });
    }
    const file = e.target.closest('a[download]');
    if (file && window.memwall) {
      e.preventDefault();
      return save(new Blob([await draw(file.getAttribute('href'))]), file.download);
    }
    if (e.target.closest('#png')) return png();
    if (e.target.closest('#theme')) return turn();
    if (e.target.closest('#help')) return help();
    if (e.target.closest('#share')) return copy(shared(), 'The address of this answer is copied.');
    const c = e.target.closest('.copy');
    if (c) copy($('code', c.parentNode).textContent, 'Copied.');
  });
  const save = (blob, name) => {
    const a = document.createElement('a');
    a.href = URL.createObjectURL(blob);
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  // the picture as points, twice as fine as the screen
  const png = async () => {
    const text = await draw($('a[download="memwall.svg"]').getAttribute('href'));
    const image = new Image();
    image.src = 'data:image/svg+xml,' + encodeURIComponent(text);
    await image.decode();
    const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(blob, 'memwall.png'));
  };
  const copy = async (text, words) => {
    try { await navigator.clipboard.writeText(text); tell(words); } catch { tell('This browser does not allow copying.'); }
  };

  // what a pointer or the focus is on lights its row, and the reverse
  const light = e => {
    const item = e.target.closest?.('[data-item]')?.dataset.item;
    for (const x of all('.lit')) x.classList.remove('lit');
    if (item) for (const x of all(`[data-item="${CSS.escape(item)}"]`)) x.classList.add('lit');
  };
  document.addEventListener('pointerover', light);
  document.addEventListener('focusin', light);

  const help = () => { const d = $('#keys'); $('#letters').checked = localStorage.getItem('letters') !== 'off'; if (!d.open) d.showModal(); };
  document.addEventListener('change', e => { if (e.target.id === 'letters') localStorage.setItem('letters', e.target.checked ? 'on' : 'off'); });
  const to = name => { const w = $(`#question [name="${name}"]`); w?.focus(); w?.select(); };
  document.addEventListener('keydown', e => {
    if (e.target.matches('input,textarea,select') || e.ctrlKey || e.metaKey || e.altKey) {
      if (e.key === 'Escape') e.target.blur();
      return;
    }
    if (e.key === 'Escape' && $('#work')) return stopper.abort();
    if (e.key.length === 1 && e.key !== '?' && localStorage.getItem('letters') === 'off' || $('#keys').open) return;
    const does = { m: () => to('m'), h: () => to('on'), c: () => to('ctx'), u: () => to('users'), t: turn, '?': help, s: () => $('#share').click(), x: () => $('#compare')?.click(), e: () => ($('#ledger .q') || $('main a[aria-expanded]'))?.click(), Backspace: () => history.back(), Escape: () => $('[aria-expanded=true]')?.click() }[e.key];
    const rung = /^[1-9]$/.test(e.key) && all('[data-rung]')[e.key - 1];
    if (rung) rung.click();
    else if (does) does();
    else return;
    e.preventDefault();
  });
  addEventListener('popstate', () => ask(location.pathname + location.search, {}));
  ready();
  if (window.memwall && location.search) root.classList.add('wait'), ask(location.pathname + location.search, {});
})();
